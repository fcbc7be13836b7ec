/*
 * settings.h
 *		What SET and SHOW don't reach of the server's settings.
 */
#ifndef SANDBOX_EXEC_SETTINGS_H
#define SANDBOX_EXEC_SETTINGS_H

/*
 * How many there are that no library defines: the name of one stays when its
 * value has gone, for whoever looks, and makes each SET slower.
 */
extern int	settings_count_unknown(void);

/*
 * In a nest level of settings: max_parallel_workers is 0, and to set it is an
 * ERROR.  So there are no parallel workers, neither for a plan that the session
 * made before nor to build an index.  Nor can transaction_timeout be set.
 */
extern void settings_lock(void);

/* they may be set again; values come back with the end of the nest level */
extern void settings_unlock(void);

#endif
