import { FormField } from '../forms/form-field.tsx'
import { SavedFields, SavedForm } from './saved-form.tsx'

export interface LoopGuardChoice {
  modes: readonly string[]
  mode: string
  posts: number
  likeness: number
  /** The values were saved on this page. */
  saved: boolean
  /** The values that hold once the saved ones are forgotten. */
  otherwise: { mode: string; posts: number; likeness: number; configured: boolean }
}

const LABELS: Record<string, string> = { off: 'Do nothing', warn: 'Mark the session', slow: 'Mark it and slow the teams down' }

/** The form for what is done about teams in a loop, and from when on. */
export const LoopGuardForm = ({ modes, mode, posts, likeness, saved, otherwise }: LoopGuardChoice) => (
  <SavedForm action="/settings/loop-guard" saved={saved} otherwise={otherwiseOf(otherwise)}>
    <fieldset className="flex flex-wrap gap-x-4 gap-y-1.5 text-[13px]">
      <legend className="mb-1.5 font-medium">When teams go round in circles</legend>
      {modes.map((name) => (
        <label key={name} className="flex items-center gap-1.5">
          <input type="radio" name="mode" value={name} defaultChecked={name === mode} />
          {LABELS[name] ?? name}
        </label>
      ))}
    </fieldset>
    <SavedFields>
      <FormField
        name="posts"
        label="Repeated posts needed"
        type="number"
        min={6}
        max={100}
        required
        defaultValue={posts}
        className="w-28"
      />
      <FormField
        name="likeness"
        label="Similarity threshold, 0.5 to 1"
        type="number"
        min={0.5}
        max={1}
        step={0.01}
        required
        defaultValue={likeness}
        className="w-28"
      />
    </SavedFields>
  </SavedForm>
)

const otherwiseOf = ({ mode, posts, likeness, configured }: LoopGuardChoice['otherwise']) => ({
  words: `“${LABELS[mode] ?? mode}” with ${posts} posts and a threshold of ${likeness}`,
  variable: configured ? 'LOOP_GUARD' : undefined,
})
