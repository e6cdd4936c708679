package import CommandKit
internal import EntitlementClient
internal import EntitlementSimulator
internal import Foundation
internal import Synchronization
internal import TextEncodings

/// The person in front of a simulated device: chooses a provider, and signs in there or not.
final class SimulatedViewer: AuthenticationInteraction {
    /// The person's behaviour once there is something to sign in with.
    enum Conduct: Sendable, Hashable {
        /// Signs in as this person of the sandbox.
        case signsIn(String)
        /// Somebody else does it, with a browser.
        case waits
        /// Nobody ever does; the time until the code's end passes at once.
        case letsCodeExpire
        /// Gives up.
        case givesUp
    }

    private struct State {
        var failure: (any Error)?
        var attempt: Task<Session, any Error>?
        var journey: Task<Void, Never>?
    }

    private let device: SimulatedDevice
    private let provider: String?
    private let conduct: Conduct
    private let shown: @Sendable (RegistrationCode) -> Void
    private let signedIn: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - provider: The provider that the person chooses; `nil`: none.
    ///   - shown: Shows a registration code.
    ///   - signedIn: The simulated person is through.
    init(
        _ device: SimulatedDevice, provider: String?, _ conduct: Conduct, shown: @escaping @Sendable (RegistrationCode) -> Void = { _ in },
        signedIn: @escaping @Sendable () -> Void = {}
    ) {
        (self.device, self.provider, self.conduct) = (device, provider, conduct)
        (self.shown, self.signedIn) = (shown, signedIn)
    }

    /// Runs a sign-in with this person.
    /// - Throws: The error that the person met, else that of the sign-in.
    func play(_ signIn: @escaping @Sendable (EntitlementClient, SimulatedViewer) async throws -> Session) async throws -> Session {
        let client = device.client
        let attempt = Task { try await signIn(client, self) }
        state.withLock { $0.attempt = attempt }
        let result = await withTaskCancellationHandler {
            await attempt.result
        } onCancel: {
            attempt.cancel()
        }
        let (failure, journey) = state.withLock { ($0.failure, $0.journey) }
        journey?.cancel()
        device.clock.isHurried = false
        if let failure { throw failure }
        return try result.get()
    }

    func chooseProvider(from providers: [Provider], reason: StatusCode?) async -> Provider.ID? {
        guard conduct != .givesUp, let provider else { return nil }
        guard providers.contains(where: { $0.id.rawValue == provider }) else {
            stop(CommandFailure("\(provider) is not a provider of \(device.setup.requestor)", advice: "there are \(Self.list(providers))"))
            return nil
        }
        return Provider.ID(provider)
    }

    func openLogin(_ url: URL, style: BrowserStyle) async -> URL? {
        guard case .signsIn(let name) = conduct else { return nil }
        do {
            var browser = SimulatedPerson(exchange: device.setup.exchange)
            let end = try await browser.signIn(at: url.absoluteString, name: name, password: name, until: "adobepass://ios.app")
            signedIn()
            return URL(string: end)
        } catch {
            stop(error)
            return nil
        }
    }

    func showCode(_ code: RegistrationCode) async {
        shown(code)
        switch conduct {
        case .waits: break
        case .givesUp: state.withLock { $0.attempt }?.cancel()
        case .letsCodeExpire: device.clock.isHurried = true
        case .signsIn(let name):
            let journey = Task { await self.signIn(code, as: name) }
            state.withLock { $0.journey = journey }
        }
    }

    func present(_ picker: ProviderPicker) async {}
    func dismiss(_ picker: ProviderPicker) async {}

    private func signIn(_ code: RegistrationCode, as name: String) async {
        let setup = device.setup
        do {
            let screen = SecondScreen(exchange: setup.exchange, gateway: setup.gateway, requestor: setup.requestor)
            try await screen.signIn(code.code, at: code.provider.rawValue, as: name)
            signedIn()
            // The next look at the servers is due: nothing is gained by waiting for it.
            device.clock.isHurried = true
        } catch {
            stop(error)
        }
    }

    private func stop(_ error: any Error) {
        let attempt = state.withLock { state in
            state.failure = state.failure ?? error
            return state.attempt
        }
        attempt?.cancel()
    }

    private static func list(_ providers: [Provider]) -> String { providers.map(\.id.rawValue).joined(separator: ", ") }
}

/// The programmer's page on a second screen, which takes a registration code to the provider's login (rest-v1 §4.2).
package struct SecondScreen: Sendable {
    let exchange: HTTPExchange
    let gateway: String
    let requestor: String

    package init(exchange: HTTPExchange, gateway: String, requestor: String) {
        self.exchange = exchange
        self.gateway = gateway
        self.requestor = requestor
    }

    /// A simulated person of the sandbox signs in with the code.
    /// - Throws: `CommandFailure` saying where it got stuck.
    package func signIn(_ code: String, at mvpd: String, as name: String) async throws {
        let end = "\(gateway)/activate/done"
        let query = FormEncoding.encode([
            ("reg_code", code), ("requestor_id", requestor), ("mso_id", mvpd), ("domain_name", try await domain()), ("noflash", "true"),
            ("no_iframe", "true"), ("redirect_url", "\(end)?code=\(code)&requestor=\(requestor)"),
        ])
        var person = SimulatedPerson(exchange: exchange)
        _ = try await person.signIn(at: "\(gateway)/api/v1/authenticate?\(query)", name: name, password: name, until: end)
    }

    private func domain() async throws -> String {
        let answer = try await exchange.send("GET", "\(gateway)/api/v1/config/\(FormEncoding.encode(requestor)).json")
        let record = answer.object["requestor"] as? [String: Any]
        guard let domain = (record?["domains"] as? [[String: Any]])?.first?["name"] as? String else {
            throw CommandFailure("the requestor \(requestor) has no domain at \(gateway)", advice: "is it in the catalogue?")
        }
        return domain
    }
}
