internal import Octets
public import Clocks

/// One check of one media token: unknown at first, decided by `validate`.
public struct MediaTokenCheck: Sendable {
    public private(set) var verdict: MediaTokenVerdict = .unknown
    /// True when the token is genuine but was presented before.
    public private(set) var isReplay = false
    /// The token's facts, once its format was understood; believe them only when `verdict` is `valid`.
    public private(set) var facts: MediaTokenFacts?
    private(set) var signedBytes: [UInt8] = []

    private let token: String
    private let requestor: String?
    private let resource: String?

    /// - Parameters:
    ///   - token: The whole string that the app handed over.
    ///   - requestor: `nil` skips the comparison.
    ///   - resource: Compared exactly; `nil` skips the comparison.
    public init(token: String, requestor: String?, resource: String?) {
        self.token = token
        self.requestor = requestor
        self.resource = resource
    }

    /// Decides; may be called again at another time.
    public mutating func validate(trustedKeys: TrustedMediaTokenKeys, now: Timestamp) {
        isReplay = false
        let trimmed = withoutOuterWhiteSpace()
        if let document = ReferenceTokenDocument(serialized: trimmed) {
            facts = document.facts
            signedBytes = document.signedBytes
            verdict = trustedKeys.isSigned(document) ? judge(document.facts, now) : .invalidSignature
        } else if let document = CompactTokenDocument(serialized: trimmed) {
            facts = document.facts
            signedBytes = document.signedBytes
            verdict = trustedKeys.isSigned(document) ? judge(document.facts, now) : .invalidSignature
        } else {
            facts = nil
            verdict = .invalidFormat
        }
    }

    private func judge(_ facts: MediaTokenFacts, _ now: Timestamp) -> MediaTokenVerdict {
        guard facts.issuedAt <= now + MediaTokenVerifier.clockTolerance, now < facts.expiresAt else { return .expired }
        if let requestor, requestor != facts.requestor { return .invalidSignature }
        if let resource, resource != facts.resource { return .invalidResource }
        return .valid
    }

    private func withoutOuterWhiteSpace() -> String {
        var text = token.drop(while: \.isWhitespace)
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }

    mutating func refuseReplay() {
        isReplay = true
        verdict = .expired
    }
}
