// How fast a peer drains a queue.
//
//   node drain.js VARIANT JOBS CAP_SECONDS CONNECTION_URL
//
// Its processes stand ready and connected.  All jobs become visible by one
// commit; the clock runs from that commit until the last outcome is committed,
// or, after CAP_SECONDS, for what has been run by then.  A tenth of the jobs is
// drained before, to warm the code up.  Prints jobs a second.
const { fork } = require('node:child_process');
const path = require('node:path');
const { Client } = require('pg');
const variants = require('./variants');

const [name, jobs, cap, url] = process.argv.slice(2);
const variant = variants[name];
const peer = require(`./${variant.peer}`);

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// the processes, once all of them are ready; each counts what it has run
function startProcesses() {
  return Promise.all(
    Array.from({ length: variant.processes }, () => {
      const child = fork(path.join(__dirname, 'worker.js'), [name, url]);
      child.ran = 0;
      child.on('exit', (code) => code && process.exit(1));
      return new Promise((resolve) => {
        child.on('message', (message) => {
          if (message.ready) resolve(child);
          else child.ran = message.ran;
        });
      });
    }),
  );
}

const total = (children) => children.reduce((sum, child) => sum + child.ran, 0);

async function drain(client, children, count, seconds) {
  const before = total(children);
  await client.query('BEGIN');
  await peer.enqueue(client, count);
  await client.query('COMMIT');
  const began = process.hrtime.bigint();
  const elapsed = () => Number(process.hrtime.bigint() - began) / 1e9;

  while (total(children) - before < count && elapsed() < seconds) await pause(2);
  if (total(children) - before < count) return (total(children) - before) / elapsed();
  while (!(await peer.finished(client))) await pause(2);
  return count / elapsed();
}

async function main() {
  await peer.prepare(url);
  const client = new Client({ connectionString: url });
  await client.connect();
  await peer.clear(client);
  const children = await startProcesses();
  await pause(1000);
  await drain(client, children, Math.ceil(jobs / 10), Number(cap));
  // what the cap cut off stays behind, for as long as it takes
  if (await peer.finished(client)) await peer.clear(client);
  await client.query('CHECKPOINT');
  console.log(await drain(client, children, Number(jobs), Number(cap)));
  process.exit(0);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
