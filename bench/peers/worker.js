// One process of a peer: runs jobs, and says how many it has run.
const variants = require('./variants');

const [name, url] = process.argv.slice(2);
const { peer, options } = variants[name];

let ran = 0;
let told = 0;

async function main() {
  await require(`./${peer}`).start(url, options, (count) => {
    ran += count;
  });
  process.send({ ready: true });
  setInterval(() => {
    if (ran !== told) process.send({ ran });
    told = ran;
  }, 5);
}

process.on('disconnect', () => process.exit(0));
main().catch((error) => {
  console.error(error);
  process.exit(1);
});
