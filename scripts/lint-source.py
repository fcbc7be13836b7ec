#!/usr/bin/env python3
"""Checks of the C sources that no compiler makes: who may use what.

    scripts/lint-source.py layers | reserved | budgets | lines

Prints what is wrong, one line each, and fails if anything is.  The rules and
how to comply with each stand in CONTRIBUTING.md.
"""
import glob
import os
import re
import statistics
import subprocess
import sys

# src/server, lowest first: a file includes headers of its own layer and below
LAYERS = (
    ('compat', 'guc', 'shmem', 'error', 'uuid7', 'pattern', 'bound', 'extension'),
    ('wakeup', 'xact', 'spi', 'slot', 'caller', 'srf', 'resolve'),
    ('replay', 'spawn', 'channel', 'burst', 'deadline', 'failure', 'jsontext', 'language', 'search_path', 'settings',
     'arguments', 'validate'),
    ('databases', 'containment', 'invoke', 'problems'),
    ('tools',),
    ('call', 'call_rows'),
    ('store',),
    ('store_pause',),
    ('sandbox', 'output', 'outcome', 'repair'),
    ('ending', 'request', 'rest'),
    ('answer',),
    ('execution',),
    ('longpoll', 'forward', 'drain', 'api', 'api_execute', 'enqueue', 'statement', 'wait', 'tail', 'internals', 'status', 'hooks'),
    ('worker', 'launcher'),
    ('sandbox_exec',),
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

# what only some files of src/server may name, and those files
RESERVED = (
    (r'\bSPI_\w+', ('spi', 'xact', 'store', 'tools', 'longpoll', 'forward', 'api_execute', 'wait', 'tail', 'drain', 'statement', 'enqueue'),
     'touches SPI'),
    (r'\b(?:fork|vfork|posix_spawnp?|execv\w*|execl\w*|system|popen|OpenPipeStream)\s*\(', ('spawn',),
     'starts a process'),
    (r'\b(?:ShmemInitStruct|ShmemInitHash|RequestAddinShmemSpace|RequestNamedLWLockTranche)\b', ('shmem',),
     'defines shared memory'),
    (r'\bPG_VERSION_NUM\b', ('compat',), 'depends on the server version'),
)

COLUMNS, FILE_LINES, SQL_LINES, FUNCTION_LINES = 100, 450, 150, 90
ALL_C = sorted(glob.glob('src/*/*.[ch]'))


def read(path):
    with open(path, encoding='utf-8') as source:
        return source.read()


def code_of(path):
    """The source with comments and string literals blanked, lines kept."""
    def blank(match):
        return re.sub(r'[^\n]', ' ', match.group(0))
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, read(path), flags=re.S)


def includes(path):
    return re.findall(r'^[ \t]*#[ \t]*include[ \t]+["<]([^">]+)[">]', read(path), flags=re.M)


def side(path):
    return path.split('/')[1]


def layers():
    for path in ALL_C:
        here, names = side(path), includes(path)
        stem = os.path.splitext(os.path.basename(path))[0]
        if here == 'server' and path.endswith('.c') and names[:1] != ['postgres.h']:
            yield f'{path}: includes {names[:1]} before postgres.h'
        if here == 'server' and stem not in LEVEL:
            yield f'{path}: has no layer in scripts/lint-source.py'
        for name in names:
            target = os.path.normpath(os.path.join(os.path.dirname(path), name))
            to = side(target) if target.startswith('src/') and os.path.exists(target) else None
            if to is None and os.path.exists(os.path.join('src', name)):
                to = name.split('/')[0]
            if name == 'postgres.h' and (here != 'server' or path.endswith('.h')):
                yield f'{path}: includes postgres.h'
            elif re.match(r'(lua|luaconf|lauxlib|lualib)\.h$', name) and here != 'runner':
                yield f'{path}: includes {name}'
            elif to and to != here and to != 'protocol':
                yield f'{path}: {here} includes {target} of {to}'
            elif here == 'server' and to == 'server':
                other = os.path.splitext(os.path.basename(target))[0]
                if LEVEL.get(other, 0) > LEVEL.get(stem, 99):
                    yield f'{path}: includes {other}.h of a higher layer'


def reserved():
    for path in ALL_C:
        if side(path) != 'server':
            continue
        stem = os.path.splitext(os.path.basename(path))[0]
        for number, line in enumerate(code_of(path).split('\n'), 1):
            for pattern, owners, what in RESERVED:
                found = re.search(pattern, line)
                if found and stem not in owners:
                    yield f'{path}:{number}: {what} ({found.group(0).strip()}); only {", ".join(owners)} may'


def lines():
    for path in ALL_C:
        for number, line in enumerate(read(path).split('\n'), 1):
            # a message isn't broken: it must be found by searching for it
            columns = len(re.sub(r'"(?:\\.|[^"\\])*"', '""', line).expandtabs(4))
            if columns > COLUMNS:
                yield f'{path}:{number}: {columns} columns'
    for path in sorted(glob.glob('src/**/*', recursive=True)):
        if os.path.isfile(path) and re.search(r'[ \t]+$', read(path), flags=re.M):
            yield f'{path}: white space at the end of a line'


def function_lengths():
    tags = subprocess.run(['ctags', '-x', '--c-kinds=f', '--_xformat=%N\t%F\t%n\t%e', *glob.glob('src/*/*.c')],
                          check=True, capture_output=True, text=True).stdout
    for tag in tags.splitlines():
        name, path, first, last = tag.split('\t')
        yield int(last) - int(first) + 1, name, path


def budgets():
    lengths = sorted(function_lengths())
    if lengths:
        sizes = [length for length, _, _ in lengths]
        comment = sum(len(c.split('\n')) for p in ALL_C for c in re.findall(r'/\*.*?\*/', read(p), flags=re.S))
        total = sum(len(read(p).split('\n')) for p in ALL_C)
        print(f'    {len(sizes)} functions: median {statistics.median(sizes):.0f} lines, '
              f'p95 {sizes[int(len(sizes) * 0.95)]}, longest {sizes[-1]}; {100 * comment // total} % comment lines')
    for length, name, path in lengths:
        if length > FUNCTION_LINES:
            yield f'{path}: {name} has {length} lines, more than {FUNCTION_LINES}'
    for path in ALL_C + sorted(glob.glob('src/sql/*.sql')):
        limit = SQL_LINES if path.endswith('.sql') else FILE_LINES
        count = read(path).count('\n')
        if count > limit:
            yield f'{path}: {count} lines, more than {limit}'


def main(name):
    complaints = list({'layers': layers, 'reserved': reserved, 'budgets': budgets, 'lines': lines}[name]())
    for complaint in complaints:
        print('    ' + complaint)
    return 1 if complaints else 0


sys.exit(main(sys.argv[1]))
