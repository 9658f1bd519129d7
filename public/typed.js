// What somebody types is not lost: into a card of the feed that somebody else decides, and while a message is sent. A question is answered once.
// Loaded by dialog.js.
import { keepAdded } from './live/added.js'
import { forgetAnswered } from './live/answered.js'
import { keepTyped } from './live/typed.js'

forgetAnswered()
keepTyped(document.getElementById('live'))
keepAdded()
