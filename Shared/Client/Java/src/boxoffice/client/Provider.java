package boxoffice.client;

import java.util.Map;

/** A TV provider that people of the channel may choose. */
public final class Provider {
    public final String id;
    /** For people. */
    public final String name;
    /** Empty where there is none. */
    public final String logoUrl;
    /** A free preview: it needs no login page. */
    public final boolean isTempPass;

    Provider(Map<String, Object> entry) {
        id = Json.text(entry, "id");
        name = Json.text(entry, "displayName") != null ? Json.text(entry, "displayName") : id;
        logoUrl = Json.text(entry, "logoUrl") != null ? Json.text(entry, "logoUrl") : "";
        isTempPass = Json.flag(entry, "isTempPass");
    }
}
