/// A request that is answered with an error page, because no trusted address is known for a SAML answer.
struct SamlRefusal: Error, Equatable {
    /// The reason code, in the words of mvpd §2.3 where one fits.
    let code: String
    /// What was found, for the integration engineer who reads the page.
    let explanation: String

    init(_ code: String, _ explanation: String) {
        self.code = code
        self.explanation = explanation
    }
}
