// graphile-worker, as drain.js and latency.js want a peer.
const { Logger, run, runMigrations } = require('graphile-worker');

const logger = new Logger(() => (level, message) => {
  if (level === 'error') console.error(message);
});

const preset = (url, options) => ({ worker: { connectionString: url, logger, ...options } });

// the empty queue
async function prepare(url) {
  await runMigrations({ preset: preset(url, {}), logger });
}

// that many jobs, in the client's transaction
async function enqueue(client, count) {
  await client.query(
    `SELECT graphile_worker.add_jobs(ARRAY(
       SELECT row('add', '{"a": 1, "b": 1}', NULL, NULL, NULL, NULL, NULL, NULL)::graphile_worker.job_spec
       FROM generate_series(1, $1::int)))`,
    [count],
  );
}

// true when every job is done
async function finished(client) {
  const { rows } = await client.query('SELECT NOT EXISTS (SELECT FROM graphile_worker._private_jobs) AS done');
  return rows[0].done;
}

async function clear(client) {
  await client.query('TRUNCATE graphile_worker._private_jobs');
  await client.query('VACUUM ANALYZE graphile_worker._private_jobs');
}

// run jobs; onJob is called once for each
async function start(url, options, onJob) {
  const runner = await run({
    preset: preset(url, options),
    logger,
    noHandleSignals: true,
    parsedCronItems: [],
    taskList: {
      add: async ({ a, b }) => {
        onJob(1);
        return a + b;
      },
    },
  });
  runner.promise.catch((error) => {
    console.error(error);
    process.exit(1);
  });
}

module.exports = { prepare, enqueue, finished, clear, start };
