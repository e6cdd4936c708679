/// What a call of the assertion consumer service carries.
public enum AssertionConsumerCall: Sendable {
    /// No SAML message: the documented 503, and no login failure.
    case withoutMessage
    /// The encoded response and the RelayState, if one was sent.
    case response(encoded: String, relayState: String?)

    /// Reads the parameters of a call (mvpd §2.3 step 1).
    /// - Parameters:
    ///   - method: The HTTP method, upper case.
    ///   - isForm: True when the content type is `application/x-www-form-urlencoded`.
    ///   - parameters: Names and values of query and body in order, with repetitions.
    /// - Throws: `bind.params`.
    public init(method: String, isForm: Bool, parameters: [(name: String, value: String)]) throws(SamlRejection) {
        func values(_ name: String) -> [String] { parameters.filter { $0.name == name }.map(\.value) }
        let responses = values("SAMLResponse")
        let relayStates = values("RelayState")
        let foreign = ["SAMLRequest", "SigAlg", "Signature"].filter { !values($0).isEmpty }
        if responses.allSatisfy(\.isEmpty), !foreign.contains("SAMLRequest") {
            self = .withoutMessage
            return
        }
        guard method == "POST", isForm, responses.count == 1, relayStates.count <= 1, foreign.isEmpty else {
            throw SamlRejection(.parameters, "The call is not a form post of one SAMLResponse and at most one RelayState.")
        }
        self = .response(encoded: responses[0], relayState: relayStates.first)
    }
}
