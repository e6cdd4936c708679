package import AuthenticationCore
package import Clocks
package import Faults
package import SamlExplanation
package import SamlProfile

/// What differs when a platform's framework carries the messages (mvpd §2.8).
extension SamlServiceProvider {
    package func platformRequest(_ request: PlatformSamlRequest) throws(Fault) -> PlatformDispatch {
        var message = authnRequest(request.id, request.requestor, request.provider, request.now)
        // The person is at a television and is not asked: a request that forces a login could never be answered (decision 0017).
        message.forceAuthn = false
        do {
            guard request.provider.endpoint.asksForAttributes else {
                return PlatformDispatch(encoded: try message.signedDocument(signedWith: identity.signingKey), issuer: message.issuer)
            }
            let query = AttributeQuery(
                id: message.id, issuedAt: message.issuedAt, destination: message.destination, issuer: message.issuer,
                attributeNames: request.attributeNames)
            return PlatformDispatch(encoded: try query.signedDocument(signedWith: identity.signingKey), issuer: message.issuer)
        } catch {
            throw Fault(.internal, "An internal fault occurred.", cause: error)
        }
    }

    package func claimedRequest(of response: UnverifiedResponse) throws(SamlRejection) -> UpstreamRequestID {
        UpstreamRequestID(try response.claimedRequestID())
    }

    package func verdict(
        on response: UnverifiedResponse, to request: ProfileRequestRecord, from provider: SamlProvider, now: Timestamp
    ) -> SamlFinding {
        do throws(SamlConfigurationError) {
            let recorded = SamlExpectations.Recorded(id: request.requestID, startedAt: request.createdAt, issuerSent: request.issuerSent)
            var expected = try expectations.expectation(recorded, provider)
            provider.endpoint.configurePlatformExchange(&expected)
            expected.exchangeURL = exchangeURL
            let (report, explanation) = ResponseVerifier().explain(response, expecting: expected, at: now)
            if case .rejected(let rejection) = report.verdict, report.digestDiffers {
                // Apps collapse white space before they send the message; whatever it was, it is never repaired.
                let suspicion = SamlRejection(rejection.reason, "The content is not what was signed (sig.digest.whitespace?).")
                return SamlFinding(verdict: .rejected(suspicion), explanation: explanation)
            }
            return SamlFinding(verdict: SamlVerdict(report.verdict), explanation: explanation)
        } catch {
            return SamlFinding(.unusable(error))
        }
    }

    /// The address of the exchange, beside that of the assertion consumer.
    private var exchangeURL: String? {
        RedirectAddress(identity.assertionConsumerServiceURL).map { $0.origin + "/api/v1/tokens/authn" }
    }
}
