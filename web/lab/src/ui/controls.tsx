/** Sliders, choices and switches of a scene. */

import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { type Choice, LONGEST_NAME, type Parameter, type Seed, seedOf, type Slider, type Switch, type Value, type Values } from "../scenes/scene";

type Change = (key: string, value: Value) => void;

function SliderControl({ parameter, value, change }: { parameter: Slider; value: number; change: Change }) {
  const id = useId();
  const place = Math.max(0, parameter.stops.indexOf(value));
  const text = `${value}${parameter.unit ? ` ${parameter.unit}` : ""}`;
  return (
    <div class="control">
      <label for={id}>{parameter.label}</label>
      <output for={id}>{text}</output>
      <input
        id={id} type="range" min={0} max={parameter.stops.length - 1} step={1} value={place}
        aria-valuetext={text} aria-describedby={`${id}-help`}
        onInput={(event) => change(parameter.key, parameter.stops[Number(event.currentTarget.value)]!)}
      />
      <p class="help" id={`${id}-help`}>{parameter.help}</p>
    </div>
  );
}

function ChoiceControl({ parameter, value, change }: { parameter: Choice; value: string; change: Change }) {
  const id = useId();
  return (
    <div class="control">
      <label for={id}>{parameter.label}</label>
      <select id={id} value={value} aria-describedby={`${id}-help`} onChange={(event) => change(parameter.key, event.currentTarget.value)}>
        {parameter.options.map((option) => <option value={option.value} selected={option.value === value}>{option.label}</option>)}
      </select>
      <p class="help" id={`${id}-help`}>{parameter.help}</p>
    </div>
  );
}

function SwitchControl({ parameter, value, change }: { parameter: Switch; value: boolean; change: Change }) {
  const id = useId();
  return (
    <div class="control switch">
      <input id={id} type="checkbox" checked={value} aria-describedby={`${id}-help`} onChange={(event) => change(parameter.key, event.currentTarget.checked)} />
      <label for={id}>{parameter.label}</label>
      <p class="help" id={`${id}-help`}>{parameter.help}</p>
    </div>
  );
}

function SeedControl({ parameter, values, change }: { parameter: Seed; values: Values; change: Change }) {
  const id = useId();
  return (
    <div class="control">
      <label for={id}>{parameter.label}</label>
      <output for={id}>seed {seedOf(values)}</output>
      <input
        id={id} type="text" value={String(values[parameter.key])} maxLength={LONGEST_NAME} autocomplete="off" spellcheck={false} aria-describedby={`${id}-help`}
        onChange={(event) => change(parameter.key, event.currentTarget.value.trim() || parameter.default)}
      />
      <p class="help" id={`${id}-help`}>{parameter.help}</p>
    </div>
  );
}

interface Props {
  parameters: readonly Parameter[];
  values: Values;
  change: Change;
  /** A title for the parameters that decide the scene's claim, and the verdict below them. */
  group?: { title: string; verdict: ComponentChildren } | null;
}

export function Controls({ parameters, values, change, group }: Props) {
  const control = (parameter: Parameter) => {
    const { key } = parameter;
    if (parameter.kind === "slider") return <SliderControl key={key} parameter={parameter} value={Number(values[key])} change={change} />;
    if (parameter.kind === "seed") return <SeedControl key={key} parameter={parameter} values={values} change={change} />;
    if (parameter.kind === "choice") return <ChoiceControl key={key} parameter={parameter} value={String(values[key])} change={change} />;
    return <SwitchControl key={key} parameter={parameter} value={values[key] === true} change={change} />;
  };
  const shown = parameters.filter(({ when }) => !when || when(values));
  const isGrouped = ({ decides }: Parameter) => Boolean(group && decides);
  const from = shown.findIndex(isGrouped), rest = shown.filter((parameter) => !isGrouped(parameter));
  const place = from < 0 ? rest.length : from;
  return (
    <form class="controls" onSubmit={(event) => event.preventDefault()}>
      {rest.slice(0, place).map(control)}
      {group && <fieldset key="group"><legend>{group.title}</legend>{shown.filter(isGrouped).map(control)}{group.verdict}</fieldset>}
      {rest.slice(place).map(control)}
    </form>
  );
}
