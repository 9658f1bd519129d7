// Keeps text that is typed into a card of the feed which somebody else decides, or while a message is sent; and has a question answered once.
// Loaded by dialog.js.
import { keepAdded } from './live/added.js'
import { forgetAnswered } from './live/answered.js'
import { keepTyped } from './live/typed.js'

forgetAnswered()
keepTyped(document.getElementById('live'))
keepAdded()
