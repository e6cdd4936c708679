package import Hummingbird

/// The reader of a page, as the request tells: the language, the addresses of the other languages, and the browser's abilities.
package struct PageReader: Sendable {
    package let language: PageLanguage
    /// Path and query of the page without a wish for a language; `nil` where a link cannot bring the page again.
    package var address: String?
    /// `Set-Cookie` for a language that was just chosen.
    package var cookie: String?
    package var acceptsGzip = false

    /// The parameter with which a person chooses a language.
    package static let parameter = "lang"
    /// The part of an address that is read, in octets.
    private static let longestTarget = 2048
    private static let cookies = (secure: "__Host-language", plain: "boxoffice-language")
    /// Seconds: 30 days.
    private static let cookieLifetime = 2_592_000
    /// The parameters that the pages read. Nothing else of an address goes into a page: it may be somebody's secret (SECURITY.md).
    private static let carried: Set<String> = ["choose", "code", "mvpd", "q", "requestor"]
    private static let longestValue = 256
    /// Pages that may be asked for again without any harm.
    private static let repeatable = ["/activate", "/devices"]

    package init(_ language: PageLanguage) { self.language = language }

    /// The language that the address names, else the one chosen before, else what the browser asks for, else English.
    /// - Parameters:
    ///   - target: Path and query as they were sent.
    ///   - isSecure: The request came over HTTPS.
    package init(_ languages: Languages, _ headers: HTTPFields, target: String, isGet: Bool, isSecure: Bool) {
        let target = target.utf8.count <= Self.longestTarget ? target : ""
        let (plain, wanted) = Self.split(target)
        let chosen = wanted.flatMap(languages.best)
        language =
            chosen ?? Self.remembered(headers).flatMap(languages.best)
            ?? languages.best(headers[values: .acceptLanguage].joined(separator: ",")) ?? languages.english
        if isGet, Self.isRepeatable(plain) { address = plain }
        if let chosen {
            // Also sent when an MVPD's page posts its answer to us, which is another site.
            cookie =
                isSecure
                ? "\(Self.cookies.secure)=\(chosen.tag); Max-Age=\(Self.cookieLifetime); Path=/; HttpOnly; Secure"
                    + SameSiteNone.attribute(for: headers[.userAgent])
                : "\(Self.cookies.plain)=\(chosen.tag); Max-Age=\(Self.cookieLifetime); Path=/; HttpOnly; SameSite=Lax"
        }
        acceptsGzip = Gzip.isAccepted(headers[.acceptEncoding])
    }

    package init(_ languages: Languages, _ exchange: Exchange) {
        self.init(
            languages, exchange.headers, target: exchange.target, isGet: exchange.method == .get || exchange.method == .head,
            isSecure: exchange.facts.isSecure)
    }

    /// The address of the page in a language.
    package func address(in tag: String) -> String? {
        address.map { "\($0)\($0.utf8.contains(UInt8(ascii: "?")) ? "&" : "?")\(Self.parameter)=\(tag)" }
    }

    /// - Returns: The address without the parameter, and its value.
    private static func split(_ target: String) -> (plain: String, wanted: String?) {
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return (target, nil) }
        let path = target[..<mark]
        let pairs = target[target.utf8.index(after: mark)...].split(separator: "&")
        let others = pairs.filter { pair in
            let parts = pair.split(separator: "=", maxSplits: 1)
            return parts.count == 2 && parts[1].utf8.count <= longestValue && carried.contains(String(parts[0]))
        }
        let value = pairs.first { $0.hasPrefix(parameter + "=") }?.dropFirst(parameter.utf8.count + 1)
        let wanted = value.flatMap { $0.utf8.count <= 35 && $0.utf8.allSatisfy(isTagOctet) ? String($0) : nil }
        return (others.isEmpty ? String(path) : "\(path)?\(others.joined(separator: "&"))", wanted)
    }

    private static func remembered(_ headers: HTTPFields) -> String? {
        let pairs = headers[values: .cookie].flatMap { $0.split(separator: ";") }.map { $0.drop { $0 == " " } }
        for name in [cookies.secure, cookies.plain] {
            guard let value = pairs.first(where: { $0.hasPrefix(name + "=") })?.dropFirst(name.utf8.count + 1) else { continue }
            if value.utf8.count <= 35, value.utf8.allSatisfy(isTagOctet) { return String(value) }
        }
        return nil
    }

    private static func isRepeatable(_ address: String) -> Bool {
        repeatable.contains { address.hasPrefix($0) && [nil, "/", "?"].contains(address.dropFirst($0.count).first) }
    }

    private static func isTagOctet(_ octet: UInt8) -> Bool {
        octet == UInt8(ascii: "-") || (0x30...0x39).contains(octet) || (0x61...0x7a).contains(octet | 0x20)
    }
}
