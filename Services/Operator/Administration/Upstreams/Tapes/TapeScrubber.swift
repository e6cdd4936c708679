internal import Cryptography
internal import Foundation
internal import StrictJson
internal import TextEncodings

/// Makes of calls and answers what may stand on a tape. Only what is known to be harmless stays; everything else gets a pseudonym.
struct TapeScrubber: Sendable {
    private(set) var pseudonyms = Pseudonyms()

    /// Stands for the upstream's own origin.
    static let upstream = "{upstream}"
    /// Headers of HTTP itself, which say nothing of the exchange.
    private static let dropped: Set<String> = ["host", "content-length", "connection", "keep-alive", "transfer-encoding", "te", "accept-encoding"]
    private static let keptAnswerHeaders: Set<String> = ["content-type", "cache-control", "date", "retry-after"]

    // MARK: Calls

    mutating func request(_ call: TapeCall) -> TapedExchange.Request {
        TapedExchange.Request(
            method: call.method, path: path(call.path), query: fields(call.query), headers: headers(call), body: requestBody(call))
    }

    private mutating func path(_ path: String) -> String {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map { decoded($0, plusIsSpace: false) }
        guard segments.starts(with: ["api", "v2"]), segments.count > 3 else {
            return "/" + segments.map { PercentEncoding.encode(pseudonyms.clean($0)) }.joined(separator: "/")
        }
        let rest = Array(segments[3...])
        let kept: [String] =
            switch (rest[0], rest.count) {
            case ("profiles", 3) where rest[1] == "code": ["profiles", "code", pseudonyms.name(rest[2], .code)]
            case ("profiles", 1...2), ("logout", 2), ("configuration", 1), ("sessions", 1), ("decisions", 1...3): rest
            case ("profiles", 3) where rest[1] == "sso", ("sessions", 3) where rest[1] == "sso": rest
            case ("sessions", 2): ["sessions", pseudonyms.name(rest[1], .code)]
            default: [rest[0]] + rest.dropFirst().map { pseudonyms.name($0, .id) }
            }
        return "/" + (segments[..<3] + kept).map { PercentEncoding.encode($0) }.joined(separator: "/")
    }

    private func decoded(_ text: Substring, plusIsSpace: Bool) -> String {
        PercentEncoding.decode(text.utf8, plusIsSpace: plusIsSpace) ?? String(text)
    }

    /// The fields of a query or a form, by name.
    private mutating func fields(_ text: String) -> [(String, String)] {
        var fields: [(String, String)] = []
        for part in text.split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = decoded(pair[0], plusIsSpace: true)
            fields.append((name, field(name, pair.count > 1 ? decoded(pair[1], plusIsSpace: true) : "")))
        }
        return fields.sorted { OctetText($0.0) < OctetText($1.0) }
    }

    private mutating func field(_ name: String, _ value: String) -> String {
        switch name {
        case "mvpd", "domainName", "grant_type", "requestor_id", "mvpd_id", "scope": value
        case "client_id": pseudonyms.name(value, .client)
        case "client_secret": pseudonyms.name(value, .secret)
        case "redirectUrl", "redirect_url": pseudonyms.name(value, .url)
        case "device_id": value == "all" ? value : pseudonyms.name(value, .device)
        case "key": value == "all" ? value : pseudonyms.name(value, .person)
        case "SAMLResponse": pseudonyms.name(value, .token)
        default: pseudonyms.name(value, .value)
        }
    }

    private mutating func requestBody(_ call: TapeCall) -> TapedExchange.Body {
        guard !call.body.isEmpty else { return .none }
        let type = (call.header("content-type") ?? "").prefix { $0 != ";" }.lowercased()
        let text = String(decoding: call.body, as: UTF8.self)
        if type == "application/x-www-form-urlencoded" { return .form(fields(text)) }
        guard let root = try? JsonDocument(parsing: call.body).root else { return .text(pseudonyms.name(text, .text)) }
        return .json(asked(TapeValue(root), "").sorted)
    }

    private mutating func asked(_ value: TapeValue, _ name: String) -> TapeValue {
        switch value {
        case .array(let elements): .array(elements.map { asked($0, name) })
        case .object(let members): .object(members.map { TapeValue.Member(name: $0.name, value: asked($0.value, $0.name)) })
        case .string(let text):
            .string(
                name == "resources" || name == "domainName" || name == "mvpd"
                    ? text : pseudonyms.name(text, name == "software_statement" ? .statement : .value))
        default: value
        }
    }

    private mutating func headers(_ call: TapeCall) -> [(String, TapeValue)] {
        var headers: [(String, TapeValue)] = []
        for header in call.headers {
            let name = header.name.lowercased()
            if !Self.dropped.contains(name) { headers.append((name, self.header(name, header.value))) }
        }
        return headers.sorted { OctetText($0.0) < OctetText($1.0) }
    }

    private mutating func header(_ name: String, _ value: String) -> TapeValue {
        switch name {
        case "accept", "content-type": return .string(value)
        case "authorization":
            let words = value.split(separator: " ", maxSplits: 1)
            guard words.count == 2, words[0] == "Bearer" else { return .string(pseudonyms.name(value, .bearer)) }
            return .string("Bearer " + pseudonyms.name(String(words[1]), .bearer))
        case "ap-device-identifier":
            let words = value.split(separator: " ", maxSplits: 1).map { String($0) }
            guard words.count == 2, words[0] == "fingerprint", let octets = Base64.standard.decode(words[1]) else {
                return .string(pseudonyms.name(value, .device))
            }
            let pseudonym = pseudonyms.name(String(decoding: octets, as: UTF8.self), .device)
            pseudonyms.alias(words[1], of: pseudonym)
            return .string("fingerprint " + pseudonym)
        case "x-forwarded-for":
            let addresses = value.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            return .string(addresses.map { pseudonyms.name($0, .address) }.joined(separator: ", "))
        case "x-device-info":
            guard let octets = Base64.standard.decode(value), let root = try? JsonDocument(parsing: octets).root else {
                return .string(pseudonyms.name(value, .text))
            }
            return described(TapeValue(root), "")
        case "ap-tempass-identity": return .string(pseudonyms.name(value, .person))
        case "adobe-subject-token", "x-roku-reserved-roku-connect-token", "ad-service-token", "ap-partner-framework-status":
            return .string(pseudonyms.name(value, .token))
        default: return .string(pseudonyms.name(value, .text))
        }
    }

    /// The description of a device stays, its place does not.
    private mutating func described(_ value: TapeValue, _ name: String) -> TapeValue {
        switch value {
        case .object(let members): return .object(members.map { TapeValue.Member(name: $0.name, value: described($0.value, $0.name)) })
        case .array(let elements): return .array(elements.map { described($0, name) })
        case .string(let text):
            if Self.descriptions.contains(name) { return .string(pseudonyms.clean(text)) }
            return .string(pseudonyms.name(text, name == "connectionIp" || name == "ipAddress" ? .address : .text))
        case .number: return ["port", "connectionPort"].contains(name) ? .number("0") : value
        default: return value
        }
    }

    private static let descriptions: Set<String> = [
        "primaryHardwareType", "model", "version", "manufacturer", "vendor", "osName", "osFamily", "osVendor", "osVersion", "browserName",
        "browserVendor", "browserVersion", "displayWidth", "displayHeight", "displayPpi", "diagonalScreenSize", "diagonalSize", "connectionType",
        "connectionSecure", "type", "name", "family", "profile", "secure", "applicationId",
    ]

    // MARK: Answers

    mutating func answer(_ answer: TapeAnswer, to call: TapeCall) -> TapedExchange.Answer {
        let headers = answer.headers.map { ($0.name.lowercased(), $0.value) }.filter { Self.keptAnswerHeaders.contains($0.0) }
        var body = TapedExchange.Body.none
        if !answer.body.isEmpty {
            if let root = try? JsonDocument(parsing: answer.body).root {
                let value = TapeValue(root)
                body = .json(call.path.hasSuffix("/configuration") && answer.status == 200 ? listed(value) : told(value, ""))
            } else {
                body = .text(pseudonyms.name(String(decoding: answer.body, as: UTF8.self), .text))
            }
        }
        return TapedExchange.Answer(status: answer.status, headers: headers, body: body)
    }

    /// The list of providers, which is the same for everybody.
    private func listed(_ value: TapeValue) -> TapeValue {
        switch value {
        case .array(let elements): .array(elements.map { listed($0) })
        case .object(let members): .object(members.map { TapeValue.Member(name: $0.name, value: listed($0.value)) })
        case .string(let text): .string(pseudonyms.clean(text))
        default: value
        }
    }

    private mutating func told(_ value: TapeValue, _ name: String) -> TapeValue {
        switch value {
        case .array(let elements): return .array(elements.map { told($0, name) })
        case .object(let members):
            switch name {
            case "attributes": return .object(members.map { TapeValue.Member(name: $0.name, value: attribute($0.value)) })
            case "device": return described(value, "")
            default: break
            }
            // An address may have a code in it that stands beside it.
            let order = members.indices.sorted { (members[$0].name == "url" ? 1 : 0, $0) < (members[$1].name == "url" ? 1 : 0, $1) }
            var made: [Int: TapeValue.Member] = [:]
            for index in order { made[index] = TapeValue.Member(name: members[index].name, value: told(members[index].value, members[index].name)) }
            return .object(members.indices.compactMap { made[$0] })
        case .string(let text): return .string(told(text, name))
        default: return value
        }
    }

    private mutating func told(_ text: String, _ name: String) -> String {
        switch name {
        case "actionName", "actionType", "reasonType", "missingParameters", "serviceProvider", "mvpd", "proxyMvpd", "issuer", "type", "state",
            "resource", "source", "status", "action", "scope", "scopes", "token_type", "grant_types", "domainName", "attributesNames":
            return pseudonyms.clean(text)
        case _ where TapeTimes.names.contains(name) || name == "expires_in": return Int64(text) == nil ? pseudonyms.name(text, .text) : text
        // A registration code has no underscore, a word for an error has.
        case "code", "error": return Self.isErrorCode(text) ? text : pseudonyms.name(text, name == "code" ? .code : .text)
        case "access_token", "refresh_token": return pseudonyms.name(text, .bearer)
        case "client_id": return pseudonyms.name(text, .client)
        case "client_secret": return pseudonyms.name(text, .secret)
        case "serializedToken": return media(text)
        case "url": return address(text)
        case "redirectUrl", "redirect_uris": return pseudonyms.name(text, .url)
        case "id", "sessionId": return pseudonyms.name(text, .id)
        default: return pseudonyms.name(text, .text)
        }
    }

    private static func isErrorCode(_ text: String) -> Bool {
        text.contains("_") && text.utf8.allSatisfy { (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5f }
    }

    private mutating func attribute(_ value: TapeValue) -> TapeValue {
        guard let members = value.members else { return anonymous(value) }
        return .object(
            members.map { TapeValue.Member(name: $0.name, value: $0.name == "state" ? told($0.value, $0.name) : anonymous($0.value)) })
    }

    /// Kinds and names stay, values do not; yes and no tell nobody apart.
    private mutating func anonymous(_ value: TapeValue) -> TapeValue {
        switch value {
        case .array(let elements): return .array(elements.map { anonymous($0) })
        case .object(let members): return .object(members.map { TapeValue.Member(name: $0.name, value: anonymous($0.value)) })
        case .string(let text): return .string(pseudonyms.name(text, .value))
        case .number(let text):
            let digits = pseudonyms.name(text, .value).filter { ("0"..."9").contains($0) }
            return .number("9000\(digits)")
        default: return value
        }
    }

    private mutating func address(_ text: String) -> String {
        var (start, rest) = ("", text[...])
        if let scheme = text.firstRange(of: "://") {
            (start, rest) = (Self.upstream, text[scheme.upperBound...].drop { !["/", "?", "#"].contains($0) })
        }
        rest = rest.prefix { $0 != "#" }
        let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = (parts.first ?? "").split(separator: "/", omittingEmptySubsequences: false).map { segment(decoded($0, plusIsSpace: false)) }
        let query = parts.count > 1 ? "?" + FormEncoding.encode(fields(String(parts[1]))) : ""
        return start + path.joined(separator: "/") + query
    }

    private mutating func segment(_ text: String) -> String {
        let looksRandom = text.utf8.count >= 16 && text.utf8.contains { (0x30...0x39).contains($0) }
        return PercentEncoding.encode(pseudonyms.known(text) ?? (looksRandom ? pseudonyms.name(text, .id) : text))
    }

    /// A token of the same facts that nobody signed: a compact JWS whose last part is the pseudonym.
    private mutating func media(_ text: String) -> String {
        let facts = Self.facts(text)
        let pseudonym = pseudonyms.name(text, .media)
        var claims: [(String, TapeValue)] = []
        for (name, value) in facts { claims.append((name, .string(name == "sessionGUID" ? pseudonyms.name(value, .person) : value))) }
        let parts = [#"{"alg":"none"}"#, TapeValue.object(claims).text].map { Base64.url.encode(Array($0.utf8)) }
        return parts.joined(separator: ".") + "." + pseudonym
    }

    private static func facts(_ token: String) -> [(String, String)] {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        let claims = parts.count == 3 ? Base64.url.decode(String(parts[1])).flatMap { try? JsonDocument(parsing: $0).root } : nil
        let xml = Base64.standard.decode(token).map { String(decoding: $0, as: UTF8.self) } ?? ""
        func fact(_ name: String) -> String? {
            if let claims { return TapeValue(claims)[name]?.string }
            guard let start = xml.firstRange(of: "<\(name)>")?.upperBound, let end = xml[start...].firstRange(of: "</\(name)>")?.lowerBound else {
                return nil
            }
            return String(xml[start..<end])
        }
        let wanted = [("sessionGUID", ["sessionGUID", "sub"]), ("mvpdId", ["mvpdId", "mvpd"]), ("proxyMvpdId", ["proxyMvpdId", "proxyMvpd"])]
        return wanted.compactMap { name, names in names.lazy.compactMap { fact($0) }.first.map { (name, $0) } }
    }
}

/// Members of answers that are moments, of which a replay makes later ones.
enum TapeTimes {
    static let names: Set<String> = ["notBefore", "notAfter", "expires", "created_at", "client_id_issued_at", "client_secret_expires_at"]
    /// A number beyond it counts milliseconds, not seconds.
    private static let firstMillisecond: Int64 = 100_000_000_000

    /// - Parameters:
    ///   - text: Seconds or milliseconds since 1970; 0 means never.
    ///   - milliseconds: The milliseconds by which it is later.
    static func moved(_ text: String, by milliseconds: Int64) -> String {
        guard let moment = Int64(text), (1...Int64(1e15)).contains(moment) else { return text }
        return "\(moment + (moment < firstMillisecond ? milliseconds / 1000 : milliseconds))"
    }

    private static let formatter: @Sendable () -> DateFormatter = {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter
    }

    /// The same for a date as HTTP writes it (RFC 9110 §5.6.7); one that cannot be read stays.
    static func moved(date text: String, by milliseconds: Int64) -> String {
        let formatter = formatter()
        guard let date = formatter.date(from: text) else { return text }
        return formatter.string(from: date.addingTimeInterval(Double(milliseconds) / 1000))
    }
}
