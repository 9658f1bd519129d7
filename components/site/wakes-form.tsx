import { FormField } from '../forms/form-field.tsx'
import { SavedFields, SavedForm } from './saved-form.tsx'

export interface WakesChoice {
  perHour: number
  most: number
  /** The number was saved on this page. */
  saved: boolean
  /** The number that holds once the saved one is forgotten. */
  otherwise: { perHour: number; configured: boolean }
}

/** The form for how often messages may wake teams that sleep. */
export const WakesForm = ({ perHour, most, saved, otherwise }: WakesChoice) => (
  <SavedForm action="/settings/wakes" saved={saved} otherwise={otherwiseOf(otherwise)}>
    <fieldset className="grid gap-1.5 text-[13px]">
      <legend className="mb-1.5 font-medium">How often messages may wake teams that are asleep</legend>
      <p className="text-[12.5px] text-muted-foreground">
        Each wake costs its user a call of the model. When they are used up, only what is addressed to a team or said by a person wakes it,
        until the hour has passed or a person writes.
      </p>
      <SavedFields>
        <FormField
          name="wakes_per_hour"
          label="Wakes per session and hour"
          type="number"
          min={0}
          max={most}
          required
          defaultValue={perHour}
          className="w-28"
        />
      </SavedFields>
    </fieldset>
  </SavedForm>
)

const otherwiseOf = ({ perHour, configured }: WakesChoice['otherwise']) => ({
  words: String(perHour),
  variable: configured ? 'WAKES_PER_HOUR' : undefined,
})
