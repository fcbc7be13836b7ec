// pg-boss, as drain.js wants a peer.
const PgBoss = require('pg-boss');

const QUEUE = 'add';
const INSERT_MAX = 10000;

function open(url, more) {
  const boss = new PgBoss({ connectionString: url, ...more });
  boss.on('error', console.error);
  return boss.start();
}

async function prepare(url) {
  const boss = await open(url, {});
  await boss.createQueue(QUEUE);
  await boss.stop({ graceful: false, wait: true });
}

async function enqueue(client, count) {
  const db = { executeSql: (text, values) => client.query(text, values) };
  const boss = new PgBoss({ db });
  for (let left = count; left > 0; left -= INSERT_MAX) {
    const jobs = Array.from({ length: Math.min(left, INSERT_MAX) }, () => ({ name: QUEUE, data: { a: 1, b: 1 } }));
    await boss.insert(jobs, { db });
  }
}

async function finished(client) {
  const { rows } = await client.query(
    `SELECT NOT EXISTS (SELECT FROM pgboss.job WHERE name = $1 AND state < 'completed') AS done`,
    [QUEUE],
  );
  return rows[0].done;
}

async function clear(client) {
  await client.query('TRUNCATE pgboss.job');
  await client.query('VACUUM ANALYZE pgboss.job');
}

// A worker polls, at most every half second.  After a batch it is told at once
// that there is more, so that it never pauses while there is.
async function start(url, { workers, batchSize }, onJob) {
  const boss = await open(url, { supervise: false, schedule: false });
  for (let i = 0; i < workers; i++) {
    const id = await boss.work(QUEUE, { pollingIntervalSeconds: 0.5, batchSize }, async (jobs) => {
      const sums = jobs.map(({ data }) => data.a + data.b);
      onJob(jobs.length);
      boss.notifyWorker(id);
      return sums;
    });
  }
}

module.exports = { prepare, enqueue, finished, clear, start };
