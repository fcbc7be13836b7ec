// How long after the commit of one job an idle graphile-worker runs it.
//
//   node latency.js JOBS CONNECTION_URL
//
// As its own test does it, but the clock starts when the client learns of the
// commit.  It stops when the handler is called: what it takes to record the
// outcome is not in it.  Prints p50, p95 and p99 in milliseconds.
const { Client } = require('pg');
const peer = require('./graphile-worker');

const [jobs, url] = process.argv.slice(2);

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

let arrived = () => {};

async function one(client) {
  const called = new Promise((resolve) => {
    arrived = () => resolve(process.hrtime.bigint());
  });
  await peer.enqueue(client, 1);
  const committed = process.hrtime.bigint();
  // called before the client learned of the commit: no time at all
  return Math.max(Number((await called) - committed) / 1e6, 0);
}

async function main() {
  await peer.prepare(url);
  const client = new Client({ connectionString: url });
  await client.connect();
  await peer.clear(client);
  await peer.start(url, {}, () => arrived());
  const times = [];
  for (let i = -jobs / 10; i < jobs; i++) {
    await pause(5);
    const ms = await one(client);
    if (i >= 0) times.push(ms);
  }
  times.sort((a, b) => a - b);
  for (const p of [50, 95, 99]) console.log(`p${p}\t${times[Math.max(Math.ceil((p / 100) * times.length) - 1, 0)].toFixed(3)}`);
  process.exit(0);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
