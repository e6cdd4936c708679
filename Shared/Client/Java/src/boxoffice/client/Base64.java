package boxoffice.client;

import java.nio.charset.StandardCharsets;

/** Base 64 with padding, in one line (RFC 4648 §4): {@code java.util.Base64} needs API 26. */
final class Base64 {
    private static final String ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    private Base64() {}

    static String encode(String text) {
        byte[] octets = text.getBytes(StandardCharsets.UTF_8);
        StringBuilder out = new StringBuilder((octets.length + 2) / 3 * 4);
        for (int start = 0; start < octets.length; start += 3) {
            int count = Math.min(3, octets.length - start), group = 0;
            for (int index = 0; index < 3; index++) group = group << 8 | (index < count ? octets[start + index] & 0xff : 0);
            for (int index = 0; index < 4; index++) out.append(index > count ? '=' : ALPHABET.charAt(group >> 18 - 6 * index & 63));
        }
        return out.toString();
    }
}
