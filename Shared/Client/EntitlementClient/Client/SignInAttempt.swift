public import Foundation
internal import Octets
internal import Synchronization

/// One run of a sign-in: passes the app's dialogs on while the run is active, and abandons them when it is cancelled.
final class SignInAttempt: Sendable {
    /// Who ended it early.
    enum End: Sendable {
        /// The person, in the app.
        case person
        /// The task was cancelled, or another attempt began.
        case app
    }

    private struct State {
        var task: Task<Session, any Error>?
        var end: End?
        var isDone = false
        var picker: ProviderPicker?
    }

    private let interaction: any AuthenticationInteraction
    private let isDegraded: @Sendable (String) -> Bool
    private let state = Mutex(State())

    /// - Parameter isDegraded: True when the provider of that platform's name is known to be out of order.
    init(_ interaction: any AuthenticationInteraction, isDegraded: @escaping @Sendable (String) -> Bool) {
        (self.interaction, self.isDegraded) = (interaction, isDegraded)
    }

    var end: End? { state.withLock { $0.end } }

    func run(_ task: Task<Session, any Error>) {
        let isOver = state.withLock { state in
            state.task = task
            return state.end != nil
        }
        if isOver { task.cancel() }
    }

    func cancel(by end: End) {
        let task = state.withLock { state -> Task<Session, any Error>? in
            guard !state.isDone else { return nil }
            state.end = state.end ?? end
            return state.task
        }
        task?.cancel()
    }

    /// Waits until nothing of it runs.
    func finished() async { _ = await state.withLock { $0.task }?.result }

    /// Call it when the run ends in any way: takes a picker that is still open off the screen.
    func close() async {
        let picker = state.withLock { state in
            state.isDone = true
            defer { state.picker = nil }
            return state.picker
        }
        if let picker { await interaction.dismiss(picker) }
    }

    // MARK: - Dialogs

    func choose(_ providers: [Provider], _ reason: StatusCode?) async throws -> Provider.ID? {
        try await abandonable { [interaction] in await interaction.chooseProvider(from: providers, reason: reason) }
    }

    func openLogin(_ url: URL, _ style: BrowserStyle) async throws -> URL? {
        try await abandonable { [interaction] in await interaction.openLogin(url, style: style) }
    }

    func show(_ code: RegistrationCode) async throws {
        try await abandonable { [interaction] in await interaction.showCode(code) }
    }
}

extension SignInAttempt: PlatformDialogHandler {
    func present(_ picker: ProviderPicker) async {
        let isWanted = state.withLock { state in
            guard !state.isDone, state.end == nil else { return false }
            state.picker = picker
            return true
        }
        if isWanted { await interaction.present(picker) }
    }

    func dismiss(_ picker: ProviderPicker) async {
        let isShown = state.withLock { state in
            guard !state.isDone, state.picker == picker else { return false }
            state.picker = nil
            return true
        }
        if isShown { await interaction.dismiss(picker) }
    }

    func shouldAuthenticate(_ providerIdentifier: String) -> Bool { !isDegraded(providerIdentifier) }
}

/// For requests that ask the person nothing.
struct NoDialogs: PlatformDialogHandler {
    func present(_ picker: ProviderPicker) {}
    func dismiss(_ picker: ProviderPicker) {}
    func shouldAuthenticate(_ providerIdentifier: String) -> Bool { true }
}

/// The app's pages for a person who signs in. A call that is cancelled may go on; its answer is then ignored.
public protocol AuthenticationInteraction: Sendable {
    /// Lets the person choose a provider.
    /// - Parameters:
    ///   - from: All providers; the app may hide some.
    ///   - reason: Why the platform did not sign the person in; `nil` when it was not asked.
    /// - Returns: `nil` when the person cancels.
    func chooseProvider(from: [Provider], reason: StatusCode?) async -> Provider.ID?
    /// Opens a login or logout page and watches for the return address, without loading it.
    /// - Returns: The return address; `nil` when the person closed the page.
    func openLogin(_ url: URL, style: BrowserStyle) async -> URL?
    /// Shows a code for the second screen, and returns at once: the library looks for the login meanwhile.
    func showCode(_ code: RegistrationCode) async
    /// The platform's picker is opening.
    func present(_ picker: ProviderPicker) async
    /// The platform's picker has closed.
    func dismiss(_ picker: ProviderPicker) async
}

/// The kind of browser that shows a page.
public enum BrowserStyle: Sendable, Hashable, CaseIterable {
    /// A web view of the app.
    case webView
    /// Safari's view controller, presented by the app.
    case safari
    /// Safari's view controller, presented by the library's surface: the app did not ask to present it itself (`handleSVC`).
    case safariPresentedByLibrary
    /// Not visible: a logout.
    case hidden
}
