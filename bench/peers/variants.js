// The peers, each with its defaults and with the fastest options that it
// documents.  A variant is: which peer, in how many processes, with what options.

// graphile-worker's own figures are measured with these (its documentation,
// "Performance"), and with four processes on a machine with many cores; here
// one and two are tried.
const graphileBatch = {
  concurrentJobs: 24,
  maxPoolSize: 25,
  localQueue: { size: 500 },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
};

// pg-boss: work() polls for one job every two seconds by default; these are the
// batch sizes that its users choose.  How many of its workers share the queue is
// what was fastest here: more of them get in each other's way.
module.exports = {
  graphile_default: { peer: 'graphile-worker', processes: 1, options: {} },
  graphile_batch: { peer: 'graphile-worker', processes: 1, options: graphileBatch },
  graphile_batch_2: { peer: 'graphile-worker', processes: 2, options: graphileBatch },
  pgboss_50: { peer: 'pg-boss', processes: 1, options: { workers: 2, batchSize: 50 } },
  pgboss_500: { peer: 'pg-boss', processes: 1, options: { workers: 1, batchSize: 500 } },
};
