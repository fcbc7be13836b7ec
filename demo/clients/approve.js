// An approval, from a Node.js back end: the package pg, and nothing else.
//
//     node approve.js "postgresql:///app?host=/tmp"
//
// It enqueues code that calls a tool which needs an approval, waits for the pause,
// shows what is asked, approves it, and prints the outcome.
'use strict';

const {Client} = require('pg');

const code = `
local answer, form = ask{message = "How much?", schema = {
    type = "object", required = {"amount"}, properties = {amount = {type = "integer", minimum = 1}}}}
if answer ~= "accept" then return "nobody wants to pay" end
return tools.shop.pay{amount = form.amount}
`;

const answers = {ask: {amount: 25}};    // what a person would fill in

async function main(connectionString) {
    const client = new Client({connectionString});
    await client.connect();
    try {
        const one = async (text, values) => (await client.query(text, values)).rows[0];
        const {id} = await one(`SELECT sandbox_exec.enqueue($1, owner => 'user-17', tools => '{shop.*}') AS id`, [code]);
        for (;;) {
            const now = await one(
                `SELECT status, result, error, pending FROM sandbox_exec.wait($1, owner => 'user-17')`, [id]);
            for (const call of now.pending ?? []) {
                console.log(`asked: ${call.message ?? call.name} ${JSON.stringify(call.args)}`);
                const {outcome} = await one(
                    `SELECT outcome FROM sandbox_exec.resume($1, 'accept', $2, actor => 'ann', owner => 'user-17')`,
                    [call.call_id, JSON.stringify(answers[call.kind] ?? null)]);
                console.log(`answered: ${outcome}`);
            }
            if (!['queued', 'running', 'paused'].includes(now.status)) {
                console.log(`${now.status}: ${now.error ?? JSON.stringify(now.result)}`);
                return;
            }
        }
    } finally {
        await client.end();
    }
}

main(process.argv[2]).catch(error => { console.error(error.message); process.exit(1); });
