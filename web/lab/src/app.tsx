/** The page: a menu of scenes, and the scene of the address. */

import { useEffect, useState } from "preact/hooks";
import type { Engine } from "./engine/engine";
import { freeFragment, readRoute, sceneFragment, type Route } from "./lib/share";
import { SCENES } from "./scenes";
import { defaults } from "./scenes/scene";
import { FreePage } from "./ui/free-page";
import { ScenePage } from "./ui/scene-page";

/** The documentation, relative to the page where the site has it. */
const DOCS = "../docs/";

const THEMES = ["system", "light", "dark"];

function Theme() {
  const [theme, set] = useState("system");
  const next = () => {
    const chosen = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]!;
    if (chosen === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = chosen;
    set(chosen);
    dispatchEvent(new Event("theme"));
  };
  return <button type="button" onClick={next}>Theme: {theme}</button>;
}

/** Writes the address without a new entry in the history. */
function replaceFragment(fragment: string): void {
  history.replaceState(null, "", fragment);
}

export function App({ engine }: { engine: Engine }) {
  const [route, set] = useState<Route | null>(null);
  useEffect(() => {
    const read = () => void readRoute(location.hash, SCENES).then(set);
    addEventListener("hashchange", read);
    read();
    return () => removeEventListener("hashchange", read);
  }, []);
  useEffect(() => {
    const title = route?.kind === "scene" ? route.scene.title : "Your own scenario";
    document.title = `${title} - netlull lab`;
  }, [route]);
  if (!route) return null;
  const current = route.kind === "scene" ? route.scene.id : "free";
  return (
    <>
      <header>
        <a class="skip" href="#scene" onClick={(event) => { event.preventDefault(); document.getElementById("scene")?.focus(); }}>Skip to the scene</a>
        <strong class="brand">netlull lab</strong>
        <nav aria-label="Scenes">
          {SCENES.map((scene) => <a href={sceneFragment(scene, defaults(scene), null)} aria-current={scene.id === current ? "page" : undefined}>{scene.title}</a>)}
          <a href="#scene=free" aria-current={current === "free" ? "page" : undefined}>Your own scenario</a>
        </nav>
        <Theme />
      </header>
      {route.kind === "scene" ? (
        <ScenePage
          key={route.scene.id} engine={engine} scene={route.scene} values={route.values} kept={route.kept} docs={DOCS}
          go={(values, kept) => {
            replaceFragment(sceneFragment(route.scene, values, kept));
            set({ ...route, values, kept });
          }}
          edit={(toml) => void freeFragment(toml).then((fragment) => { location.hash = fragment; })}
        />
      ) : (
        <FreePage key={`free ${route.toml}`} engine={engine} toml={route.toml} go={(toml) => void freeFragment(toml).then(replaceFragment)} />
      )}
      <footer>Every picture is a run of netlull's simulator in this browser. Nothing is sent anywhere.</footer>
    </>
  );
}
