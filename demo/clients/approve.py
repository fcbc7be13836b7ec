"""An approval, from a Python back end: psycopg, and nothing else.

    python3 approve.py "host=/tmp dbname=app"

It enqueues code that calls a tool which needs an approval, waits for the pause,
shows what is asked, approves it, and prints the outcome.
"""
import json
import sys

import psycopg

CODE = """
local answer, form = ask{message = "How much?", schema = {
    type = "object", required = {"amount"}, properties = {amount = {type = "integer", minimum = 1}}}}
if answer ~= "accept" then return "nobody wants to pay" end
return tools.shop.pay{amount = form.amount}
"""

ANSWERS = {"ask": {"amount": 25}}       # what a person would fill in


def main(dsn):
    with psycopg.connect(dsn, autocommit=True) as connection:
        execution_id = connection.execute(
            "SELECT sandbox_exec.enqueue(%s, owner => 'user-17', tools => '{shop.*}')", (CODE,)).fetchone()[0]
        while True:
            status, result, error, pending = connection.execute(
                "SELECT status, result, error, pending FROM sandbox_exec.wait(%s, owner => 'user-17')",
                (execution_id,)).fetchone()
            for call in pending or []:
                print(f"asked: {call['message'] or call['name']} {json.dumps(call['args'])}")
                outcome = connection.execute(
                    "SELECT outcome FROM sandbox_exec.resume(%s, 'accept', %s, actor => 'ann', owner => 'user-17')",
                    (call["call_id"], json.dumps(ANSWERS.get(call["kind"])))).fetchone()[0]
                print(f"answered: {outcome}")
            if status not in ("queued", "running", "paused"):
                print(f"{status}: {json.dumps(result) if error is None else error}")
                return


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
