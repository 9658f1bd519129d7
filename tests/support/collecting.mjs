// Loaded before a server (BUN_OPTIONS=--preload=…): SIGUSR2 has it collect what nobody needs any more, and print how many bytes JavaScript holds.
import { heapStats } from 'bun:jsc'

process.on('SIGUSR2', () => {
  Bun.gc(true)
  console.log(`Held: ${heapStats().heapSize}`)
})
