public import Clocks
public import OutboundHttp
internal import StrictJson

/// Reads what time it is upstream (bridge §5.2).
public enum UpstreamClock {
    /// Differences up to this are the network's, or of two clocks that are set well.
    public static let tolerance: Duration = .seconds(30)
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// By how much the clock that wrote an answer's `Date` is ahead of ours; negative: behind; `nil`: the answer does not say.
    /// - Parameter now: When it came.
    public static func offset(_ answer: OutboundAnswer, now: Timestamp) -> Duration? {
        answer.header("Date").flatMap(moment).map { $0 - now }
    }

    /// A date as HTTP writes it (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`. Older forms are not sent any more.
    static func moment(_ text: String) -> Timestamp? {
        guard text.utf8.count == 29 else { return nil }
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 6, words[5] == "GMT", words[0].utf8.last == 0x2c, let month = months.firstIndex(of: String(words[2])) else { return nil }
        let times = words[4].split(separator: ":", omittingEmptySubsequences: false)
        guard times.count == 3, let day = number(words[1], 1...31), let year = number(words[3], 1970...9999), let hour = number(times[0], 0...23),
            let minute = number(times[1], 0...59), let second = number(times[2], 0...60)
        else { return nil }
        let seconds = days(year, month + 1, day) * 86_400 + hour * 3600 + minute * 60 + second
        return Timestamp(milliseconds: seconds * 1000)
    }

    private static func number(_ text: Substring, _ range: ClosedRange<Int64>) -> Int64? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text), range.contains(number) else { return nil }
        return number
    }

    /// Since 1970, in the proleptic Gregorian calendar.
    private static func days(_ year: Int64, _ month: Int, _ day: Int64) -> Int64 {
        let (y, m) = month <= 2 ? (year - 1, Int64(month) + 9) : (year, Int64(month) - 3)
        return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 719_469
    }
}

/// Something whose times are upstream's.
public protocol UpstreamTimed {
    /// The same by a clock that is so far behind.
    func earlier(by offset: Duration) -> Self
}

extension Array: UpstreamTimed where Element: UpstreamTimed {
    public func earlier(by offset: Duration) -> [Element] { map { $0.earlier(by: offset) } }
}

extension BridgedProfile: UpstreamTimed {
    public func earlier(by offset: Duration) -> BridgedProfile { BridgedProfile(self, start: start - offset, end: end - offset) }
}

extension BridgedSignIn: UpstreamTimed {
    public func earlier(by offset: Duration) -> BridgedSignIn {
        guard case .browser(let path, let code, let end) = self else { return self }
        return .browser(path: path, code: code, end: end - offset)
    }
}

extension BridgedDecision: UpstreamTimed {
    public func earlier(by offset: Duration) -> BridgedDecision {
        BridgedDecision(
            self, end: end.map { $0 - offset },
            token: token.map { MediaToken(serialized: $0.serialized, start: $0.start - offset, end: $0.end - offset) })
    }
}

/// The upstream's answer to a new sign-in (rest-v2 §2.2).
public enum BridgedSignIn: Hashable, Sendable {
    /// A browser must go there.
    /// - Parameters:
    ///   - path: Root-relative or absolute, as it came; nobody may be sent there before `BridgedAddress` has checked it.
    ///   - code: Upstream's, sealed wherever it is kept.
    ///   - end: When upstream forgets it.
    case browser(path: String, code: String, end: Timestamp)
    /// The device is signed in already, by trial or by degradation too: its profile says how.
    case done
    /// Upstream lacks something that we sent: it does not accept it.
    case incomplete(missing: [String])
    /// The platform's own sign-in goes on with this request (rest-v2 §2.12).
    case partner(request: String, attributeNames: [String])

    private static let longestAddress = 4096

    /// - Throws: `BridgeFailure`; `unusable` when the action is not known or lacks its parts.
    public init(_ answer: OutboundAnswer) throws(BridgeFailure) {
        let body = try BridgeAnswer.document(answer, accepted: [200, 201])
        switch body["actionName"]?.string {
        case "authorize": self = .done
        case "authenticate":
            guard let path = body["url"]?.string, (1...Self.longestAddress).contains(path.utf8.count) else { throw .unusable("url is missing") }
            guard let code = body["code"]?.string, Self.isCode(code) else { throw .unusable("code is missing") }
            guard let end = try body.moment("notAfter") else { throw .unusable("notAfter is missing") }
            self = .browser(path: path, code: code, end: end)
        case "resume", "retry":
            self = .incomplete(missing: body["missingParameters"]?.strings.map { $0 == "domain" ? "domainName" : $0 } ?? [])
        case "partner_profile":
            guard let request = body["authenticationRequest"]?["request"]?.string, !request.isEmpty else {
                throw .unusable("authenticationRequest.request is missing")
            }
            self = .partner(request: request, attributeNames: body["authenticationRequest"]?["attributesNames"]?.strings ?? [])
        case let other: throw .unusable("actionName is \(other.map { "'\($0.prefix(40))'" } ?? "missing")")
        }
    }

    private static func isCode(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0) }
    }
}

/// The upstream's answer to a logout (rest-v2 §2.11). Every known answer means that the profile is gone.
public struct BridgedLogout: Hashable, Sendable {
    /// A browser may end the session at the MVPD here; unchecked; empty: nowhere.
    public let path: String

    /// - Parameter mvpd: Upstream's id.
    /// - Throws: `BridgeFailure`; `unusable` without an action.
    public init(_ answer: OutboundAnswer, mvpd: String) throws(BridgeFailure) {
        let body = try BridgeAnswer.document(answer)
        guard let entry = body["logouts"]?[mvpd], let action = entry["actionName"]?.string else {
            throw .unusable("logouts has no entry of the provider")
        }
        guard ["logout", "complete", "partner_logout", "invalid"].contains(action) else { throw .unusable("actionName is not known") }
        path = entry["url"]?.string ?? ""
    }
}

/// The upstream's decision about a resource (rest-v2 §2.9, §2.10).
public struct BridgedDecision: Hashable, Sendable {
    public enum Outcome: Hashable, Sendable {
        case permit
        case deny(BridgeRefusal)
    }

    public struct MediaToken: Hashable, Sendable {
        /// As it came, octet for octet: the verifier's signature is over it.
        public let serialized: String
        public let start: Timestamp
        public let end: Timestamp
    }

    public let resource: String
    public let outcome: Outcome
    /// `mvpd`, `degradation`, `temppass`, `dummy`, or a later word.
    public let source: String
    /// The end of the decision that the upstream keeps; `nil`: not told.
    public let end: Timestamp?
    /// With a permit to play.
    public let token: MediaToken?

    private static let largestToken = 65_536

    /// - Parameter resource: That was asked.
    /// - Throws: `BridgeFailure`; `unusable` when it is not decided about, or a permit lacks its media token.
    public init(_ answer: OutboundAnswer, resource: String) throws(BridgeFailure) {
        let decisions = try Self.all(answer)
        guard let decision = decisions.first(where: { $0.resource == resource }) ?? (decisions.count == 1 ? decisions.first : nil) else {
            throw .unusable("the resource is not decided about")
        }
        if case .permit = decision.outcome, decision.token == nil { throw .unusable("a permit without token") }
        self = decision
    }

    /// The decisions of a preauthorization, in its order.
    public static func all(_ answer: OutboundAnswer) throws(BridgeFailure) -> [BridgedDecision] {
        guard let entries = try BridgeAnswer.document(answer)["decisions"]?.elements else { throw .unusable("decisions is missing") }
        var decisions: [BridgedDecision] = []
        for entry in entries { decisions.append(try BridgedDecision(entry)) }
        return decisions
    }

    init(_ other: BridgedDecision, end: Timestamp?, token: MediaToken?) {
        (resource, outcome, source) = (other.resource, other.outcome, other.source)
        (self.end, self.token) = (end, token)
    }

    private init(_ decision: JsonNode) throws(BridgeFailure) {
        guard let resource = decision["resource"]?.string, let isPermit = decision["authorized"]?.bool else {
            throw .unusable("a decision lacks resource or authorized")
        }
        self.resource = resource
        source = decision["source"]?.string ?? ""
        guard isPermit else {
            // A no without a reason is still a no.
            let refusal = decision["error"].flatMap { BridgeAnswer.refusal($0, status: 403) }
            outcome = .deny(refusal ?? BridgeRefusal(status: 403, code: "authorization_denied_by_mvpd"))
            (end, token) = (nil, nil)
            return
        }
        outcome = .permit
        end = try decision.moment("notAfter")
        token = try decision["token"].map { (node) throws(BridgeFailure) in try Self.token(node) }
    }

    private static func token(_ token: JsonNode) throws(BridgeFailure) -> MediaToken {
        guard let text = token["serializedToken"]?.string, (1...largestToken).contains(text.utf8.count), let end = try token.moment("notAfter") else {
            throw .unusable("a token lacks serializedToken or notAfter")
        }
        return MediaToken(serialized: text, start: try token.moment("notBefore") ?? Timestamp(milliseconds: 0), end: end)
    }
}

/// The id by which the upstream knows an answer, for people who ask its operator about it.
public enum UpstreamTrace {
    private static let longest = 128
    /// Errors are small.
    private static let largestBody = 16_384

    /// - Returns: Printable, at most 128 octets; empty where the answer does not say.
    public static func of(_ answer: OutboundAnswer) -> String {
        let named = answer.header("Adobe-Request-Id") ?? ""
        guard answer.status >= 400, answer.body.count <= largestBody, let root = try? JsonDocument(parsing: answer.body).root,
            let trace = root["trace"]?.string
        else { return clean(named) }
        return clean(trace)
    }

    private static func clean(_ text: String) -> String {
        text.utf8.allSatisfy { (0x21...0x7e).contains($0) } ? String(decoding: text.utf8.prefix(longest), as: UTF8.self) : ""
    }
}
