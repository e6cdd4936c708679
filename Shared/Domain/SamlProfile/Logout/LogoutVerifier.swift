internal import CXmlSec
public import Clocks

/// The checks of logout messages (mvpd §2.7): octets in, verdict out. It holds no state and may be used from any thread.
public struct LogoutVerifier: Sendable {
    public init() {}

    /// Checks an MVPD's request to end a session.
    /// - Parameters:
    ///   - message: The message as it arrived.
    ///   - expected: The demands of the endpoint's record.
    ///   - now: The time of day.
    /// - Throws: The reason for which the request must not be carried out.
    public func request(
        _ message: UnverifiedLogout, expecting expected: ExpectedLogout, at now: Timestamp
    ) throws(SamlRejection) -> VerifiedLogoutRequest {
        var verification = LogoutVerification(expecting: expected, at: now)
        return try verification.request(message)
    }

    /// Checks an MVPD's answer to a logout request of ours.
    /// - Parameters:
    ///   - message: The message as it arrived.
    ///   - requestID: `ID` of the request that is waiting for the answer.
    ///   - expected: The demands of the endpoint's record.
    ///   - now: The time of day.
    /// - Throws: The reason for which the answer does not count.
    public func answer(
        _ message: UnverifiedLogout, to requestID: String, expecting expected: ExpectedLogout, at now: Timestamp
    ) throws(SamlRejection) -> LogoutAnswer {
        var verification = LogoutVerification(expecting: expected, at: now)
        return try verification.answer(message, to: requestID)
    }
}

/// The run of one logout message through its checks.
struct LogoutVerification {
    /// The checks that responses have too.
    private var common: ResponseVerification
    private let expected: ExpectedLogout

    init(expecting expected: ExpectedLogout, at now: Timestamp) {
        self.expected = expected
        common = ResponseVerification(expecting: expected.response, at: now)
    }

    mutating func request(_ message: UnverifiedLogout) throws(SamlRejection) -> VerifiedLogoutRequest {
        let root = try verified(message, named: "LogoutRequest")
        let id = try checkEnvelope(of: root)
        if let end = try common.instant("NotOnOrAfter", of: root, .conditions, .time) {
            try common.trace.require(common.now < end + expected.clockSkew, .conditions, .time, "The request is over.")
        }
        let names = root.children("NameID", in: Namespaces.assertion)
        guard names.count == 1 else { throw common.trace.fail(.subject, .subjectFormat, "There is not exactly one NameID.") }
        // It would name every session that came without one.
        try common.trace.require(names[0].text?.isEmpty == false, .subject, .subjectFormat, "The NameID is empty, or holds elements.")
        var indexes: [String] = []
        for index in root.children("SessionIndex", in: Namespaces.protocol) { indexes.append(try common.text(of: index, .subject)) }
        let issuer = try common.text(of: try issuer(of: root), .responseIssuer)
        return VerifiedLogoutRequest(
            id: id, issuer: issuer, nameID: try nameID(names[0]), sessionIndexes: indexes,
            expiresAt: common.now + expected.maximumAge + expected.clockSkew + expected.clockSkew)
    }

    mutating func answer(_ message: UnverifiedLogout, to requestID: String) throws(SamlRejection) -> LogoutAnswer {
        let root = try verified(message, named: "LogoutResponse")
        _ = try checkEnvelope(of: root)
        guard let answered = root.attribute("InResponseTo") else {
            throw common.trace.fail(.inResponseTo, .unsolicited, "The response answers no request.")
        }
        try common.trace.require(answered == requestID, .inResponseTo, .request, "The response answers another request.")
        guard let status = try common.status(of: root) else { return .complete }
        return status.codes.contains("PartialLogout") ? .partial : .failed(codes: status.codes)
    }

    /// Who, when and where to: each is mandatory in a signed message.
    /// - Returns: The message's ID.
    private mutating func checkEnvelope(of root: XmlElement) throws(SamlRejection) -> String {
        guard let id = root.attribute("ID"), NCName.matches(id) else { throw common.trace.fail(.identifiers, .duplicateID, "The message has no ID.") }
        try common.trace.require(
            root.attribute("Destination", equals: expected.logoutServiceURL), .destination, .destination,
            "The message is not addressed to the logout service.")
        try common.checkAge(of: root)
        try common.checkIssuer(try issuer(of: root), .responseIssuer)
        return id
    }

    private mutating func issuer(of root: XmlElement) throws(SamlRejection) -> XmlElement {
        let issuers = root.children("Issuer", in: Namespaces.assertion)
        guard issuers.count == 1 else { throw common.trace.fail(.responseIssuer, .issuer, "There is not exactly one Issuer.") }
        return issuers[0]
    }

    private mutating func nameID(_ element: XmlElement) throws(SamlRejection) -> NameID {
        NameID(
            value: ProviderUserID(try common.text(of: element, .subject)), format: element.attribute("Format"),
            nameQualifier: element.attribute("NameQualifier"), spNameQualifier: element.attribute("SPNameQualifier"),
            spProvidedID: element.attribute("SPProvidedID"))
    }
}

extension LogoutVerification {
    /// Parses the message, checks its structure and its signature.
    /// - Returns: The root to read: of the signed octets.
    private mutating func verified(_ message: UnverifiedLogout, named name: StaticString) throws(SamlRejection) -> XmlElement {
        let document = try common.parse(message.octets)
        let root = document.root
        try common.trace.require(
            root.isNamed(name, in: Namespaces.protocol) && root.attribute("Version", equals: "2.0"), .root, .root,
            "The root is not a SAML 2.0 \(name).")
        let survey = DocumentSurvey(of: root)
        try common.checkIdentifiers(survey)
        try common.trace.require(survey.assertions.isEmpty, .assertionPosition, .assertionPosition, "The message holds an assertion.")
        switch message.proof {
        case .query(let text, let algorithm, let signature):
            try common.trace.require(
                survey.signatures.isEmpty, .signaturePosition, .signaturePosition, "A redirected message is signed in the query, not in the XML.")
            try verify(signature, of: text, algorithm)
            return VerifiedElement(signedWhole: document).element
        case .document:
            guard let placed = survey.signatures.first else {
                throw common.trace.fail(.signaturePolicy, .signatureMissing, "The message is not signed.")
            }
            try common.trace.require(
                survey.signatures.count == 1 && placed.parent.isSame(as: root), .signaturePosition, .signaturePosition,
                "The signature does not stand in the message itself.")
            return try common.verify(placed.signature, of: root).element
        }
    }

    /// The signature of a query, over its text as it was received.
    private mutating func verify(_ signature: [UInt8], of text: String, _ name: String) throws(SamlRejection) {
        guard let algorithm = SignatureAlgorithm(rawValue: name), algorithm != .rsaSHA1, expected.signatureAlgorithms.contains(algorithm) else {
            throw common.trace.fail(.algorithms, .signatureAlgorithm, "The signature algorithm is not allowed.")
        }
        let keys = try common.pinnedKeys(for: algorithm)
        let octets = Array(text.utf8)
        let isVerified = keys.contains { key in
            cxs_verify_octets(key.pointer, algorithm.method, octets, octets.count, signature, signature.count) != 0
        }
        try common.trace.require(isVerified, .signature, .signatureInvalid, "The query's signature does not verify with a pinned certificate.")
    }
}

/// An MVPD's logout request that passed every check. Only this module creates one.
public struct VerifiedLogoutRequest: Hashable, Sendable {
    public let id: String
    public let issuer: String
    public let nameID: NameID
    /// Empty: every session of the person.
    public let sessionIndexes: [String]
    /// Until when the ID has to be remembered; after it the request is refused for its age.
    public let expiresAt: Timestamp
}

/// An MVPD answers a logout request of ours in one of these ways.
public enum LogoutAnswer: Hashable, Sendable {
    case complete
    /// Some of the person's other sessions could not be ended.
    case partial
    /// Status codes, outermost first.
    case failed(codes: [String])
}

/// The caller's knowledge about a logout message: the endpoint's record, and the request that an answer is for.
public struct ExpectedLogout: Sendable {
    /// Our logout address: `Destination`.
    public var logoutServiceURL: String
    public var issuer: ExpectedIssuer
    /// The endpoint's pinned certificates; the only source of keys.
    public var pinnedCertificates: [PinnedCertificate]
    public var signatureAlgorithms: Set<SignatureAlgorithm> = SignatureAlgorithm.current
    /// Until when SHA-1 signatures are accepted inside documents; a query's never is (mvpd #82). Nil: never.
    public var legacySHA1Until: Timestamp?
    /// Clocks may differ this far.
    public var clockSkew: Duration = .seconds(60)
    /// How old a message may be.
    public var maximumAge: Duration = .seconds(300)

    /// - Parameters:
    ///   - logoutServiceURL: Our logout address, as the message must name it in `Destination`.
    ///   - issuer: Who must have issued the message.
    ///   - pinnedCertificates: The only source of keys.
    public init(logoutServiceURL: String, issuer: ExpectedIssuer, pinnedCertificates: [PinnedCertificate]) {
        self.logoutServiceURL = logoutServiceURL
        self.issuer = issuer
        self.pinnedCertificates = pinnedCertificates
    }

    /// For the checks that logout messages and responses share.
    var response: ExpectedResponse {
        var expected = ExpectedResponse(
            requestID: "", requestedAt: Timestamp(milliseconds: 0), assertionConsumerServiceURL: logoutServiceURL, issuer: issuer,
            serviceProviderEntityID: "", issuerSent: "", pinnedCertificates: pinnedCertificates, nameIDFormats: [])
        expected.signatureAlgorithms = signatureAlgorithms
        expected.legacySHA1Until = legacySHA1Until
        expected.clockSkew = clockSkew
        expected.maximumResponseAge = maximumAge
        return expected
    }
}
