package boxoffice.client;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Keeps short texts between starts of the app: on Android a private {@code SharedPreferences}. Called from several threads. */
public interface Storage {
    /** @return null where there is none */
    String read(String name);

    /** @param value null removes it */
    void write(String name, String value);

    /** Lasts as long as the process. */
    final class InMemory implements Storage {
        private final Map<String, String> values = new ConcurrentHashMap<>();

        @Override
        public String read(String name) {
            return values.get(name);
        }

        @Override
        public void write(String name, String value) {
            if (value == null) values.remove(name); else values.put(name, value);
        }
    }
}
