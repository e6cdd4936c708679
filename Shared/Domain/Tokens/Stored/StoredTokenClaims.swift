public import Clocks
internal import MediaTokenVerifier
internal import TextEncodings

/// A token that an app of the vendor's SDKs keeps on its device and shows again with each call (clients §3). It is XML, signed, on one line.
///
/// It is no proof by itself: the session that it names must still exist at the services.
public struct StoredTokenClaims: Hashable, Sendable {
    public enum Kind: CaseIterable, Sendable {
        /// The token of a session.
        case authentication
        /// The token of a permit.
        case authorization
    }

    /// The user's scrambled id (rest-v1 §7).
    public var guid: String
    public var requestor: String
    public var mvpd: String
    /// Stands for the device.
    public var fingerprint: String
    /// An opaque handle of the session.
    public var sessionIndex: String
    /// Whole seconds.
    public var expiresAt: Timestamp
    /// The permitted resource; `nil`: a token of a session.
    public var resource: String?

    /// - Parameters:
    ///   - guid: The user's scrambled id.
    ///   - requestor: Id of the requestor.
    ///   - mvpd: Id of the MVPD.
    ///   - fingerprint: Identifies the device.
    ///   - sessionIndex: An opaque handle of the session.
    ///   - expiresAt: In whole seconds.
    ///   - resource: The permitted resource; `nil`: a token of a session.
    public init(
        guid: String, requestor: String, mvpd: String, fingerprint: String, sessionIndex: String, expiresAt: Timestamp, resource: String? = nil
    ) {
        self.guid = guid
        self.requestor = requestor
        self.mvpd = mvpd
        self.fingerprint = fingerprint
        self.sessionIndex = sessionIndex
        self.expiresAt = expiresAt
        self.resource = resource
    }

    public var kind: Kind { resource == nil ? .authentication : .authorization }
}

extension StoredTokenClaims.Kind {
    /// The element that is signed.
    var root: String {
        switch self {
        case .authentication: "simpleAuthenticationToken"
        case .authorization: "simpleAuthorizationToken"
        }
    }

    /// The longest whole token, in octets.
    public var longest: Int {
        switch self {
        case .authentication: 8 * 1024
        // A resource may have 16 KiB before it is escaped.
        case .authorization: 48 * 1024
        }
    }
}

/// The octets of a stored token. Apps parse them by searching for element names, so these names are the reference's.
enum StoredTokenForm {
    static let opening = "<signatureInfo>"
    static let closing = "</signatureInfo>"
    /// The value that apps of every programmer send and the reference writes.
    private static let domain = "adobe.com"

    /// The signed text.
    static func payload(_ token: StoredTokenClaims) -> String {
        let device = "<simpleTokenDeviceID>\(element("simpleTokenFingerprint", token.fingerprint))</simpleTokenDeviceID>"
        let root = token.kind.root
        guard let resource = token.resource else {
            return "<\(root)>" + element("simpleTokenAuthenticationGuid", token.guid) + element("simpleTokenRequestorID", token.requestor)
                + element("simpleTokenDomainName", domain) + element("simpleTokenExpires", time(token.expiresAt))
                + element("simpleTokenMsoID", token.mvpd) + device + element("simpleSamlNameID", token.guid)
                + element("simpleSamlSessionIndex", token.sessionIndex) + "</\(root)>"
        }
        return "<\(root)>" + element("simpleTokenRequestorID", token.requestor) + element("simpleTokenResourceID", resource)
            + element("simpleTokenTTL", time(token.expiresAt)) + element("simpleTokenMsoID", token.mvpd) + device
            + element("simpleTokenAuthenticationGuid", token.guid) + element("simpleSamlSessionIndex", token.sessionIndex) + "</\(root)>"
    }

    /// - Parameter payload: With a verified signature, so it has the form that is written above.
    static func read(_ payload: String, _ kind: StoredTokenClaims.Kind) -> StoredTokenClaims? {
        func value(_ name: String) -> String? { content(of: name, in: payload) }
        let isPermit = kind == .authorization
        guard let guid = value("simpleTokenAuthenticationGuid"), let requestor = value("simpleTokenRequestorID"),
            let end = value(isPermit ? "simpleTokenTTL" : "simpleTokenExpires").flatMap(moment), let mvpd = value("simpleTokenMsoID"),
            let fingerprint = value("simpleTokenFingerprint"), let index = value("simpleSamlSessionIndex")
        else { return nil }
        let resource = isPermit ? value("simpleTokenResourceID") : nil
        guard isPermit == (resource != nil) else { return nil }
        return StoredTokenClaims(
            guid: guid, requestor: requestor, mvpd: mvpd, fingerprint: fingerprint, sessionIndex: index, expiresAt: end, resource: resource)
    }

    private static func element(_ name: String, _ content: String) -> String { "<\(name)>\(MarkupEscapes.xmlText.escaped(content))</\(name)>" }

    /// Markup in content is escaped, so a name with its brackets occurs only at its element.
    private static func content(of name: String, in payload: String) -> String? {
        guard let start = end(of: "<\(name)>", in: payload) else { return nil }
        let raw = payload[start...].unicodeScalars.prefix { $0 != "<" }
        return XMLText.unescape(raw)
    }

    private static func end(of mark: String, in payload: String) -> Substring.Index? {
        let mark = Array(mark.utf8)
        var rest = payload.utf8[...]
        while let open = rest.firstIndex(of: UInt8(ascii: "<")) {
            if rest[open...].starts(with: mark) { return rest.index(open, offsetBy: mark.count) }
            rest = rest[rest.index(after: open)...]
        }
        return nil
    }

    /// `2026/12/24 02:29:34 GMT +0000`.
    static func time(_ moment: Timestamp) -> String {
        let parts = IssueTime.format(moment).split(separator: " ")
        return parts[0].replacing("-", with: "/") + " \(parts[1]) GMT \(parts[2])"
    }

    static func moment(_ text: String) -> Timestamp? {
        let parts = text.split(separator: " ")
        guard parts.count == 4, parts[2] == "GMT" else { return nil }
        return IssueTime.parse("\(parts[0].replacing("/", with: "-")) \(parts[1]) \(parts[3])")
    }
}
