// Server-sent events, read as they come.

export interface Frame {
  id?: string
  event?: string
  data?: any
}

/** The frames of a stream, one by one; comments are left out. */
export const framesOf = (response: Response) => {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const next = async (): Promise<Frame | undefined> => {
    for (;;) {
      const end = text.indexOf('\n\n')
      if (end < 0) {
        const { value, done: over } = await reader.read()
        if (over) return undefined
        text += value
        continue
      }
      const lines = text.slice(0, end).split('\n')
      text = text.slice(end + 2)
      const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
      const [id, event, data] = [field('id'), field('event'), field('data')]
      if (data !== undefined) return { ...(id && { id }), ...(event && { event }), data: JSON.parse(data) }
    }
  }
  const take = async (count: number) => {
    const frames: (Frame | undefined)[] = []
    for (let n = 0; n < count; n++) frames.push(await next())
    return frames
  }
  return { next, take, cancel: () => reader.cancel() }
}
