internal import Octets
public import Foundation

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
