#!/usr/bin/env python3
"""Run the Lua programs through SQL: enqueue, wait, compare.

usage: run.py [--psql "psql -h ... -d ..."] [--jobs N] [FILE_OR_DIRECTORY ...]

Exit status 0 when all came to what their headers say.  Needs psql.
"""
import argparse
import concurrent.futures
import json
import subprocess
import sys
import time

import expectations

OUTCOME = """SELECT json_build_object('status', status, 'result', result, 'stdout', stdout, 'error', error)
    FROM sandbox_exec.wait('%s', '60 s')"""


def sql(psql, statement):
    """The one value that the statement yields, or RuntimeError with psql's complaint."""
    done = subprocess.run(psql + ['-XAtq', '-v', 'ON_ERROR_STOP=1'], input=statement.encode(),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    text = done.stdout.decode().strip()
    if done.returncode or not text:
        raise RuntimeError(done.stderr.decode(errors='replace').strip() or 'no row')
    return text.split('\n')[-1]


def literal(text):
    return "E'" + text.replace('\\', '\\\\').replace("'", "\\'") + "'"


def enqueue(program):
    call = f"SELECT sandbox_exec.enqueue({literal(program.code)}, owner => 'cases'"
    call += f", timeout => '{program.timeout_ms} ms'"
    if program.memory_mb:
        call += f', memory_limit_kb => {program.memory_mb * 1024}'
    return call + ')'


def one(psql, program):
    """The program's name and what is wrong, or None."""
    if program.code is None:
        return program.name, None
    try:
        execution = sql(psql, enqueue(program))
    except RuntimeError as refused:
        # refusing code that is bound to fail is as good
        return program.name, None if program.status() == 'failed' else f'enqueue: {refused}'
    began = time.monotonic()
    try:
        outcome = json.loads(sql(psql, OUTCOME % execution))
    except RuntimeError as lost:
        return program.name, f'wait: {lost}'
    return program.name, expectations.complaint(program, outcome, (time.monotonic() - began) * 1000)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--psql', default='psql')
    parser.add_argument('--jobs', type=int, default=1)
    parser.add_argument('where', nargs='*')
    given = parser.parse_args()
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        outcomes = pool.map(lambda program: one(given.psql.split(), program), expectations.programs(given.where))
        return expectations.report(outcomes)


if __name__ == '__main__':
    sys.exit(main())
