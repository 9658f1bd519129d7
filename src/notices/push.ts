// Web Push: a message is encrypted for one browser (RFC 8291) and signed as this server's (RFC 8292) by web-push, which is asked for the
// request alone. Who sends it is handed in (push-sender.ts), because it must not reach every address.
import webpush from 'web-push'
import { sha256 } from '../core/ids.ts'
import { ANSWER_WITHIN_S, outcomeOf, unanswered, type Outcome } from './outcomes.ts'
import type { PushMessage } from './message.ts'

export interface PushSender {
  /** Throws EndpointRefused for an endpoint that nothing may be sent to, another error when its name cannot be looked up. */
  check(endpoint: string, signal: AbortSignal): Promise<void>
  /** Posts to the endpoint, and follows no redirect. Throws as `check` does, and when no answer comes. */
  send(request: PushRequest): Promise<{ status: number; retryAfter: string | undefined }>
}

export interface PushRequest {
  endpoint: string
  headers: Record<string, string>
  body: Uint8Array
  signal: AbortSignal
}

/** Nothing may be sent to this endpoint. The message says why, as the end of a sentence about it. */
export class EndpointRefused extends Error {
  override name = 'EndpointRefused'
}

/** Where a browser is reached, and with what it decrypts. */
export interface PushTarget {
  endpoint: string
  p256dh: string
  auth: string
}

/** This server's own keys, by which push services know it (VAPID), and an address to write to about its pushes. */
export interface PushIdentity {
  keys: string
  contact: string
}

const TTL_S = 24 * 60 * 60 // for a browser that is closed: after a day it is no news

/** The contact that push services are given. Apple refuses one at a name that only this machine knows. */
export const contactFor = (base: string): string => {
  const { protocol, hostname } = new URL(base)
  return protocol === 'https:' && hostname.includes('.') ? base : 'mailto:nobody@example.com'
}

/** New keys, as they are kept among the settings. */
export const newPushKeys = (): string => JSON.stringify(webpush.generateVAPIDKeys())

/** The half of the keys that browsers are given. */
export const publicKeyOf = (keys: string): string => (JSON.parse(keys) as webpush.VapidKeys).publicKey

/** Whether a browser's keys are such that something can be encrypted for it. */
export const isUsable = (target: PushTarget, identity: PushIdentity): boolean => {
  try {
    requestFor(target, identity, {} as PushMessage, 'normal')
    return true
  } catch {
    return false
  }
}

/** Sends a message to one browser. */
export const pushTo = async (
  sender: PushSender,
  target: PushTarget,
  identity: PushIdentity,
  { message, urgent, ending }: { message: PushMessage; urgent: boolean; ending?: AbortSignal },
): Promise<Outcome> => {
  const timeout = AbortSignal.timeout(ANSWER_WITHIN_S * 1_000)
  const signal = ending ? AbortSignal.any([timeout, ending]) : timeout
  try {
    const { status, retryAfter } = await sender.send({ ...requestFor(target, identity, message, urgent ? 'high' : 'normal'), signal })
    return outcomeOf(status, retryAfter)
  } catch (error) {
    return error instanceof EndpointRefused ? { came: 'failed', why: `is not called: ${error.message}` } : unanswered(error)
  }
}

const requestFor = (
  { endpoint, p256dh, auth }: PushTarget,
  { keys, contact }: PushIdentity,
  message: PushMessage,
  urgency: 'high' | 'normal',
): Omit<PushRequest, 'signal'> => {
  const { headers, body } = webpush.generateRequestDetails({ endpoint, keys: { p256dh, auth } }, JSON.stringify(message), {
    vapidDetails: { subject: contact, ...(JSON.parse(keys) as webpush.VapidKeys) },
    contentEncoding: 'aes128gcm',
    TTL: TTL_S,
    urgency,
    topic: topicFor(message),
  })
  return { endpoint, headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])), body: body! }
}

// Of what waits at the push service for a browser that is away, a later notice of the same kind and session takes the place of the one
// before. At most 32 characters; hashed, so that the service does not learn the session.
const topicFor = ({ kind, session_id }: PushMessage) => sha256(`${kind}/${session_id}`).slice(0, 32)
