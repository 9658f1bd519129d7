// The keys of a session's page: loaded when somebody asks for them (live/keys.js).
import { showKeys } from './shown-keys.js'

showKeys({
  'j k': 'Next row, previous row',
  g: 'Newest message',
  c: 'Write a message',
  d: 'Document',
  b: 'Board',
  r: 'Records',
  i: 'What waits for you',
  '/': 'Search',
  '?': 'These keys',
})
