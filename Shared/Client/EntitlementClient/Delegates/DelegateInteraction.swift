internal import Octets
internal import Foundation
internal import Synchronization

/// Turns the questions of a sign-in into callbacks, and waits for the app's answering operations.
final class DelegateInteraction: AuthenticationInteraction {
    private struct Pending {
        var choice: Outcome<Provider.ID?>?
        var login: Outcome<URL?>?
    }

    private let pending = Mutex(Pending())
    private let push: @Sendable (Callback) -> Void
    private let returnAddresses: [String]

    init(returnAddresses: [String], push: @escaping @Sendable (Callback) -> Void) {
        (self.returnAddresses, self.push) = (returnAddresses, push)
    }

    // MARK: - The app's answers

    /// - Returns: False when no picker waits.
    func choose(_ provider: Provider.ID?) -> Bool {
        pending.withLock { $0.choice.take() }?.settle(.success(provider)) ?? false
    }

    /// - Returns: False when no page waits.
    func closePage() -> Bool {
        pending.withLock { $0.login.take() }?.settle(.success(nil)) ?? false
    }

    /// A second call, or an address that is no return address, is ignored (client-sdk §1.3).
    func returned(to url: URL) {
        guard returnAddresses.contains(where: { EntitlementClient.isReturn(url, to: $0) }) else { return }
        pending.withLock { $0.login.take() }?.settle(.success(url))
    }

    // MARK: - The library's questions

    func chooseProvider(from providers: [Provider], reason: StatusCode?) async -> Provider.ID? {
        let outcome = Outcome<Provider.ID?>()
        return await answer(of: outcome) { pending in
            pending.choice = outcome
            push(.displayProviderDialog(providers.map(ListedProvider.init)))
        }
    }

    func openLogin(_ url: URL, style: BrowserStyle) async -> URL? {
        let outcome = Outcome<URL?>()
        return await answer(of: outcome) { pending in
            pending.login = outcome
            push(.navigateToUrl(url.absoluteString, useSVC: style == .safari))
        }
    }

    func showCode(_ code: RegistrationCode) async {
        push(.status(Status(.registrationCode, registrationCode: code.code)))
    }

    func present(_ picker: ProviderPicker) async { push(.presentTvProviderDialog(picker)) }
    func dismiss(_ picker: ProviderPicker) async { push(.dismissTvProviderDialog(picker)) }

    /// - Parameter ask: Called only when the sign-in still runs; afterwards no callback comes of it.
    private func answer<Value: Sendable>(of outcome: Outcome<Value?>, _ ask: (inout Pending) -> Void) async -> Value? {
        let answer = try? await withTaskCancellationHandler {
            pending.withLock { pending in if !Task.isCancelled { ask(&pending) } }
            return try await withCheckedThrowingContinuation { outcome.wait($0) }
        } onCancel: {
            _ = pending.withLock { _ in outcome.settle(.failure(CancellationError())) }
        }
        return answer ?? nil
    }
}
