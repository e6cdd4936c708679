internal import Foundation
internal import Octets

/// Signing in at one provider: a trial, a page on this device, or a code for a second screen.
extension EntitlementClient {
    func signIn(
        _ id: Provider.ID, _ data: [String: String], _ attempt: SignInAttempt, _ configuration: ServiceConfiguration
    ) async throws -> Session {
        guard let provider = configuration.provider(id) else { throw EntitlementError.authenticationFailed(nil) }
        track(.selectedProvider(id, device: environment.device.tracked))
        if provider.isTempPass { return try await startTrial(provider, data, configuration) }
        let returnAddress = environment.device.platform.hasBrowser ? browser(for: provider).returnAddress : nil
        switch try await beginLogin(at: id, data, returnAddress: returnAddress, configuration) {
        case .alreadySignedIn: return loggedIn(try await fetchSession(.provider(id, source: .regular), configuration), configuration)
        case .login(let login) where returnAddress == nil: return try await waitForSecondScreen(login, attempt, configuration)
        case .login(let login): return try await openLogin(login, provider, attempt, configuration)
        }
    }

    private func beginLogin(
        at provider: Provider.ID, _ data: [String: String], returnAddress: String?, _ configuration: ServiceConfiguration
    ) async throws -> LoginStart {
        do {
            let start = try await api(configuration, provider).beginLogin(at: provider, data: data, returnAddress: returnAddress)
            if let start { return start }
        } catch is ServerFailure {}
        throw EntitlementError.authenticationFailed(.noRegistrationCode)
    }

    // MARK: - Trial

    private func startTrial(_ provider: Provider, _ data: [String: String], _ configuration: ServiceConfiguration) async throws -> Session {
        guard try await api(configuration, provider.id).beginTrial(at: provider.id, data: data) else {
            throw EntitlementError.authenticationFailed(nil)
        }
        return succeeded(try await fetchSession(.trial(provider.id, data: data), configuration))
    }

    // MARK: - On this device

    private func openLogin(
        _ login: PendingLogin, _ provider: Provider, _ attempt: SignInAttempt, _ configuration: ServiceConfiguration
    ) async throws -> Session {
        let (style, returnAddress) = browser(for: provider)
        guard let page = login.page else { throw EntitlementError.authenticationFailed(.authenticationFailed) }
        guard let end = try await attempt.openLogin(page, style) else {
            emit(Status(.pickerCancelled))
            throw EntitlementError.providerNotSelected
        }
        guard Self.isReturn(end, to: returnAddress) else { throw EntitlementError.authenticationFailed(nil) }
        return loggedIn(try await fetchSession(.login(login), configuration), configuration)
    }

    /// The browser for a provider's pages, and the return address.
    func browser(for provider: Provider?) -> (style: BrowserStyle, returnAddress: String) {
        guard provider?.requiresSafariViewController == true else { return (.webView, environment.returnAddress) }
        let style: BrowserStyle = options.handlesSafariViewController ? .safari : .safariPresentedByLibrary
        return (style, environment.safariReturnAddress ?? environment.returnAddress)
    }

    /// True when an address is the return address, with or without more behind it. Scheme and host have no case.
    static func isReturn(_ url: URL, to address: String) -> Bool {
        guard let expected = URL(string: address) else { return false }
        return url.scheme?.lowercased() == expected.scheme?.lowercased() && url.host?.lowercased() == expected.host?.lowercased()
            && url.path.hasPrefix(expected.path)
    }

    // MARK: - On a second screen

    private func waitForSecondScreen(
        _ login: PendingLogin, _ attempt: SignInAttempt, _ configuration: ServiceConfiguration
    ) async throws -> Session {
        try await attempt.show(login.code)
        var schedule = PollSchedule(interval: environment.pollInterval, start: environment.clock.uptime, lifetime: login.code.lifetime)
        while let pause = schedule.next(at: environment.clock.uptime) {
            try await environment.clock.sleep(for: pause)
            guard schedule.isGood(at: environment.clock.uptime) else { break }
            switch try await lookForSession(.login(login), configuration) {
            case .session(let token): return loggedIn(token, configuration)
            case .none: schedule.answered()
            case .over: throw EntitlementError.authenticationFailed(.noSession)
            case .refused(let code): throw EntitlementError.authenticationFailed(code)
            case .throttled, .failed: schedule.disturbed()
            }
        }
        throw EntitlementError.authenticationFailed(.noSession)
    }

    // MARK: - Without the provider

    /// Asks the server to let the person in while the provider is out of order (client-sdk §2.1).
    /// - Returns: `nil` when the server wants a login after all.
    func degradedSession(_ id: Provider.ID, _ configuration: ServiceConfiguration) async throws -> Session? {
        guard configuration.provider(id) != nil else { return nil }
        do {
            guard try await api(configuration, id).beginDegraded(at: id, returnAddress: environment.returnAddress) else { return nil }
            return succeeded(try await fetchSession(.provider(id, source: .degraded), configuration))
        } catch is ServerFailure {
            return nil
        } catch EntitlementError.authenticationFailed {
            return nil
        }
    }
}

/// A login is polled for at these times (client-sdk §4.3): at an interval, less often while the servers fail, and not after the code has expired.
struct PollSchedule: Sendable, Equatable {
    /// The longest pause, while the servers fail.
    static let longestPause: Duration = .seconds(30)

    private let interval: Duration
    private let end: Duration
    private var pause: Duration

    /// - Parameters:
    ///   - interval: Between two polls that are answered.
    ///   - start: When the code was made, by the clock's uptime: a device with a wrong clock waits as long as any.
    ///   - lifetime: How long the code is valid.
    init(interval: Duration, start: Duration, lifetime: Duration) {
        self.interval = interval
        pause = interval
        end = start + lifetime
    }

    /// - Returns: How long to wait now; `nil` when the code has expired.
    func next(at uptime: Duration) -> Duration? {
        guard uptime < end else { return nil }
        return min(pause, end - uptime)
    }

    /// True when the code can still be used.
    func isGood(at uptime: Duration) -> Bool { uptime < end }

    /// The servers answered that there is no session yet.
    mutating func answered() { pause = interval }

    /// The servers gave another answer, or none.
    mutating func disturbed() { pause = min(max(pause, .seconds(1)) * 2, max(Self.longestPause, interval)) }
}

/// The requestor's configuration, and the server for each provider.
struct ServiceConfiguration: Sendable {
    let requestor: Requestor.ID
    /// The first of the requestor's domains; a login names it.
    let domain: String
    /// In the servers' order.
    let providers: [Provider]
    /// The first server that named a provider answers for it.
    let links: [Provider.ID: ServerLink]
    /// The server for calls without a provider.
    let firstLink: ServerLink
    /// The server's clock is ahead of the device's this far.
    let clockDifference: TimeInterval

    func provider(_ id: Provider.ID) -> Provider? { providers.first { $0.id == id } }
    /// - Parameter identifier: The platform's name of it.
    func provider(mappedTo identifier: String) -> Provider? { providers.first { $0.platformMappingID == identifier } }
    func link(_ provider: Provider.ID?) -> ServerLink { provider.flatMap { links[$0] } ?? firstLink }

    /// True when the platform can sign people in at all.
    var hasPlatformSignIn: Bool { providers.contains(where: \.takesPartInPlatformSignIn) }

    /// The platform's names of the providers for its picker (client-sdk §2.1).
    func pickerList(_ filter: ProviderFilter?) -> (supported: [String], featured: [String]) {
        let listed = providers.filter { $0.enablePlatformServices && $0.displayInPlatformPicker && $0.platformMappingID != nil }
        guard let filter else { return (listed.compactMap(\.platformMappingID), []) }
        let supported = filter.providers.compactMap { id in listed.first { $0.id == id }?.platformMappingID }
        let featured = filter.featured.compactMap { id in listed.first { $0.id == id }?.platformMappingID }
        return (supported, featured.filter(supported.contains))
    }
}
