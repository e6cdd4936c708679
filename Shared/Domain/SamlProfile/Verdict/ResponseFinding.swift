/// The verdict on a response and how it came about.
public struct ResponseFinding: Sendable {
    public let verdict: ResponseVerdict
    public let explanation: ResponseExplanation
    /// As in `ResponseReport`.
    public let digestDiffers: Bool

    public init(verdict: ResponseVerdict, explanation: ResponseExplanation, digestDiffers: Bool = false) {
        (self.verdict, self.explanation, self.digestDiffers) = (verdict, explanation, digestDiffers)
    }

    /// The endpoint's record cannot be used.
    public static func unusable(_ error: SamlConfigurationError) -> ResponseFinding {
        let rejection = SamlRejection(.unusable, error.description)
        return ResponseFinding(
            verdict: .rejected(rejection),
            explanation: ResponseExplanation(rejection, at: .pinnedKey, hint: "Correct saml.signingCertificates of the MVPD."))
    }
}
