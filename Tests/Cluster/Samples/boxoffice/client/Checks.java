package boxoffice.client;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** What the library in Java does when a server answers otherwise than a cluster does by itself: with a transport that answers from a list. */
public final class Checks {
    private static final String CLIENT = "{\"client_id\":\"c\",\"client_secret\":\"s\"}", TOKEN = "{\"access_token\":\"t\",\"expires_in\":21600}";

    private Checks() {}

    /** Answers in turn, and notes what was asked. */
    private static final class Script implements Transport {
        private final List<Answer> answers = new ArrayList<>();
        final List<String> asked = new ArrayList<>();

        Script then(int status, String text) {
            answers.add(new Answer(status, text, status == 503 ? "1" : null));
            return this;
        }

        @Override
        public Answer send(Request request) {
            asked.add(request.method + " " + request.url.replace("https://tv.example", "").split("\\?")[0]);
            return answers.remove(0);
        }
    }

    private static EntitlementClient client(Script script, EntitlementClient.Version version) {
        return new EntitlementClient.Builder("https://tv.example/", "ACME1", "a.b.c").transport(script).version(version).build();
    }

    private static void is(Object found, Object wanted) {
        if (!String.valueOf(found).equals(String.valueOf(wanted))) throw new AssertionError("found " + found + ", wanted " + wanted);
    }

    private interface Call {
        Object make() throws IOException;
    }

    private static String codeOf(Call call) throws IOException {
        try {
            return "no exception: " + call.make();
        } catch (EntitlementException e) {
            return e.code;
        }
    }

    private static void aForgottenTokenIsReplacedAndThenTheClient() throws IOException {
        String session = "{\"mvpd\":\"NorthCable\",\"expires\":\"1930384800123\"}";
        Script script = new Script().then(201, CLIENT).then(201, TOKEN).then(401, "{}").then(201, TOKEN).then(401, "{}").then(201, CLIENT).then(201, TOKEN).then(200, session);
        Session found = client(script, EntitlementClient.Version.V1).session();
        is(found.mvpd + found.expires, "NorthCable1930384800123");
        String read = "GET /api/v1/tokens/authn", token = "POST /o/client/token", register = "POST /o/client/register";
        is(script.asked, Arrays.asList(register, token, read, token, read, register, token, read));
        Script dead = new Script().then(201, CLIENT).then(400, "{\"error\":\"invalid_client\"}").then(201, CLIENT).then(201, TOKEN).then(404, "");
        is(client(dead, EntitlementClient.Version.V1).session(), null);
        is(dead.asked, Arrays.asList(register, token, register, token, read));
    }

    private static void refusalsHaveTheServersCode() throws IOException {
        is(codeOf(() -> client(new Script().then(400, "{\"error\":\"invalid_software_statement\"}"), EntitlementClient.Version.V1).providers()), "invalid_software_statement");
        is(codeOf(() -> client(new Script().then(201, CLIENT).then(201, TOKEN).then(502, "<html>"), EntitlementClient.Version.V2).providers()), "status_502");
        is(codeOf(() -> client(new Script(), EntitlementClient.Version.V2).authorize("R")), "not_signed_in");
    }

    private static void notNowIsAskedAgain() throws IOException {
        Script script = new Script().then(503, "").then(201, CLIENT).then(201, TOKEN).then(503, "").then(503, "").then(503, "");
        is(codeOf(() -> client(script, EntitlementClient.Version.V1).session()), "status_503");
        is(Collections.frequency(script.asked, "GET /api/v1/tokens/authn"), 3);
    }

    private static void jsonIsReadToTheLetter() throws IOException {
        Map<String, Object> found = Json.object(" {\"a\":[1,-2.5e1,true,null,\"\\u00e9\\n\\\"\"],\"b\":{},\"c\":9007199254740993,\"\":[]} ");
        is(found, "{a=[1, -25.0, true, null, é\n\"], b={}, c=9007199254740993, =[]}");
        StringBuilder deep = new StringBuilder();
        for (int depth = 0; depth < 100_000; depth++) deep.append("{\"a\":");
        for (String bad : new String[] {"", "[]", "{", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1}x", "{a:1}", "{\"a\":\"\u0001\"}", "{\"a\":\"\\x\"}", "{\"a\":01}", "{\"a\":+1}", "{\"a\":1.}", "{\"a\":.5}", "{\"a\":-}", "{\"a\":tru}",
            deep.toString()}) {
            try {
                throw new AssertionError("read " + Json.object(bad));
            } catch (IOException expected) {
                // It says what is missing.
            }
        }
        is(Json.quoted("a\"\\\n\u2028é\ud83d\ude00"), "\"a\\\"\\\\\\u000a\\u2028é\\ud83d\\ude00\"");
        is(Json.object("{\"a\":" + Json.quoted("\ud83d\ude00\u0000") + "}").get("a"), "\ud83d\ude00\u0000");
    }

    private static void base64HasPadding() {
        String[] vectors = {"", "", "f", "Zg==", "fo", "Zm8=", "foo", "Zm9v", "foob", "Zm9vYg==", "fooba", "Zm9vYmE=", "foobar", "Zm9vYmFy", "é", "w6k="};
        for (int index = 0; index < vectors.length; index += 2) is(Base64.encode(vectors[index]), vectors[index + 1]);
    }

    public static void main(String[] arguments) throws IOException {
        aForgottenTokenIsReplacedAndThenTheClient();
        refusalsHaveTheServersCode();
        notNowIsAskedAgain();
        jsonIsReadToTheLetter();
        base64HasPadding();
        System.out.println("passed  the library in Java, with answers that no cluster gives by itself");
    }
}
