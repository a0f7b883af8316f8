// Runs SQL statements, a JSON array on standard input, in the folder given as
// argument and prints a JSON array with the columns and rows of each. A number
// that JSON cannot hold is the string "Infinity", "-Infinity" or "NaN"; a
// 64-bit integer is a string.
import { readFileSync } from 'node:fs'
import { DuckDBInstance } from '@duckdb/node-api'

const statements = JSON.parse(readFileSync(0, 'utf8'))
process.chdir(process.argv[2])
const connection = await (await DuckDBInstance.create(':memory:')).connect()
const answers = []
for (const sql of statements) {
  try {
    const reader = await connection.runAndReadAll(sql)
    answers.push({ columns: reader.columnNames(), rows: reader.getRowsJson() })
  } catch (e) {
    throw new Error(`${sql}\n${e.message}`)
  }
}
process.stdout.write(JSON.stringify(answers))
