internal import AuthenticationCore
internal import Catalogue
internal import Clocks
package import ContractRuntime
internal import Contracts
internal import Faults
internal import Synchronization

/// The service provider's metadata, signed once and then handed out as it is: a signature costs a millisecond, and anybody may ask (mvpd §2.7).
package final class SignedMetadata: Sendable {
    /// How long one document is handed out; far shorter than it is valid.
    static let renewal: Duration = .seconds(300)

    private struct Entry {
        let document: String
        let madeAt: Timestamp
    }

    private let saml: any SamlSignIn
    private let catalogue: any CatalogueSource
    private let clock: any WallClock
    /// By requestor, empty for none: as many as the catalogue has.
    private let entries = Mutex<[OctetText: Entry]>([:])

    init(saml: any SamlSignIn, catalogue: any CatalogueSource, clock: any WallClock) {
        self.saml = saml
        self.catalogue = catalogue
        self.clock = clock
    }

    /// To be called when a key has changed.
    package func forget() { entries.withLock { $0 = [:] } }

    /// - Parameter requestor: One of the catalogue; `nil` for the deployment's own.
    func document(_ requestor: RequestorID?) async throws(Fault) -> String {
        let key = OctetText(requestor?.text ?? "")
        let now = clock.now()
        // A clock that was set back makes a document anew.
        if let known = entries.withLock({ $0[key] }), now >= known.madeAt, now < known.madeAt + Self.renewal { return known.document }
        let document = try await offEventLoop { [saml] () throws(Fault) in try saml.metadata(requestor: requestor, now: now) }
        entries.withLock { $0[key] = Entry(document: document, madeAt: now) }
        return document
    }
}

extension SignedMetadata: CallRegistration {
    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationMethods.getServiceProviderMetadata) { [self] request, _ in
            if !request.requestor.isEmpty { _ = try catalogue.current().requireRequestor(request.requestor) }
            let requestor = request.requestor.isEmpty ? nil : RequestorID(request.requestor)
            return ServiceProviderMetadata(document: try await document(requestor))
        }
    }
}
