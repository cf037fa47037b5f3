/** The page: a menu of scenes, and the scene of the address. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Engine } from "./engine/engine";
import { freeFragment, readRoute, sceneFragment, type Route } from "./lib/share";
import { SCENES } from "./scenes";
import { defaults, type Values, withSeed } from "./scenes/scene";
import { FreePage } from "./ui/free-page";
import { ScenePage } from "./ui/scene-page";

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

/** Least milliseconds between two changes of the address: browsers ignore or refuse more than about 100 in 30 s. */
const PACE = 350;

/** Writes addresses without new entries in the history, the newest of them at last. Does nothing after the user went elsewhere. */
function useAddress(): { write: (fragment: string) => void; read: () => string } {
  const state = useRef({ known: location.hash, since: -PACE, timer: 0 });
  return useMemo(() => ({
    write: (fragment) => {
      const address = state.current;
      clearTimeout(address.timer);
      address.timer = setTimeout(() => {
        if (location.hash !== address.known) return;
        history.replaceState(null, "", fragment);
        address.known = location.hash;
        address.since = performance.now();
      }, address.since + PACE - performance.now());
    },
    read: () => {
      clearTimeout(state.current.timer);
      state.current.known = location.hash;
      return location.hash;
    },
  }), []);
}

export function App({ engine }: { engine: Engine }) {
  const [route, set] = useState<Route | null>(null);
  const address = useAddress();
  useEffect(() => {
    let newest = 0;
    const read = () => {
      const own = ++newest;
      void readRoute(address.read(), SCENES).then((route) => own === newest && set(route));
    };
    addEventListener("hashchange", read);
    read();
    return () => removeEventListener("hashchange", read);
  }, []);
  useEffect(() => {
    const title = route?.kind === "scene" ? route.scene.title : "Your own scenario";
    document.title = `${title} - netlull lab`;
  }, [route]);
  const main = route?.kind === "scene" ? route.scene.id : route?.kind;
  const before = useRef(main);
  useEffect(() => {
    // The focus was in a part of the page that is gone, such as the dialog.
    if (before.current !== undefined && document.activeElement === document.body) document.getElementById("scene")?.focus();
    before.current = main;
  }, [main]);
  /** The newest scene: its seed and its view are those of links to other scenes. */
  const newest = useRef<{ values: Values; first: boolean }>({ values: {}, first: false });
  if (route?.kind === "scene") newest.current = route;
  if (!route) return null;
  const current = route.kind === "scene" ? route.scene.id : "free";
  return (
    <>
      <header>
        <a class="skip" href="#scene" onClick={(event) => { event.preventDefault(); document.getElementById("scene")?.focus(); }}>Skip to the scene</a>
        <strong class="brand">netlull lab</strong>
        <nav aria-label="Scenes">
          {SCENES.map((scene) => <a href={sceneFragment(scene, withSeed(defaults(scene), newest.current.values), null, newest.current.first)} aria-current={scene.id === current ? "page" : undefined}>{scene.title}</a>)}
          <a href="#scene=free" aria-current={current === "free" ? "page" : undefined}>Your own scenario</a>
        </nav>
        <Theme />
      </header>
      {route.kind === "scene" ? (
        <ScenePage
          key={route.scene.id} engine={engine} scene={route.scene} values={route.values} kept={route.kept} first={route.first} refused={route.refused}
          go={(values, kept, refused = []) => {
            address.write(sceneFragment(route.scene, values, kept, route.first));
            set({ ...route, values, kept, refused });
          }}
          edit={(toml) => void freeFragment(toml).then((fragment) => { location.hash = fragment; })}
        />
      ) : (
        <FreePage key={`free ${route.damaged} ${route.toml}`} engine={engine} toml={route.toml} damaged={route.damaged} go={(toml) => void freeFragment(toml).then(address.write)} />
      )}
      <footer>Every picture is a run of netlull's simulator in this browser. Nothing is sent anywhere.</footer>
    </>
  );
}
