package boxoffice.client;

import java.util.Map;

/** Whether a resource may be played. */
public final class Decision {
    public final String resource;
    public final boolean isPermitted;
    /** For the backend that gives out the stream, once; null for a refusal and for preauthorizations. In Base64, as the servers send it. */
    public final String mediaToken;
    /** The servers' code of a refusal; empty where they gave none. */
    public final String code;
    /** The provider's own words to the person; empty where there are none. */
    public final String details;

    Decision(String resource, boolean isPermitted, String mediaToken, Map<String, Object> error) {
        this.resource = resource;
        this.isPermitted = isPermitted;
        this.mediaToken = mediaToken;
        code = Json.text(error, "code") != null ? Json.text(error, "code") : "";
        details = Json.text(error, "details") != null ? Json.text(error, "details") : "";
    }
}
