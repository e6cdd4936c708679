#if canImport(VideoSubscriberAccount) && (os(iOS) || os(tvOS) || os(visionOS) || APPLE_STUBS)
internal import Octets
internal import Foundation
internal import Synchronization
internal import VideoSubscriberAccount
#if canImport(UIKit)
internal import UIKit
#endif

/// Passes the picker of Apple's framework on, opening before closing.
final class AppleAccountDialogs: NSObject, VSAccountManagerDelegate, Sendable {
    private struct State {
        var pickers: [ObjectIdentifier: ProviderPicker] = [:]
        var last: Task<Void, Never>?
    }

    private let handler: any PlatformDialogHandler
    private let state = Mutex(State())

    init(_ handler: any PlatformDialogHandler) { self.handler = handler }

    /// Waits until the app has received every call.
    func finished() async { await state.withLock { $0.last }?.value }

    func accountManager(_ accountManager: VSAccountManager, present viewController: UIViewController) {
        pass(viewController) { handler, picker in await handler.present(picker) }
    }

    func accountManager(_ accountManager: VSAccountManager, dismiss viewController: UIViewController) {
        pass(viewController) { handler, picker in await handler.dismiss(picker) }
    }

    func accountManager(_ accountManager: VSAccountManager, shouldAuthenticateAccountProviderWithIdentifier identifier: String) -> Bool {
        handler.shouldAuthenticate(identifier)
    }

    private func pass(
        _ viewController: UIViewController, _ action: @escaping @Sendable (any PlatformDialogHandler, ProviderPicker) async -> Void
    ) {
        state.withLock { state in
            let picker = state.pickers[ObjectIdentifier(viewController)] ?? ProviderPicker { viewController }
            state.pickers[ObjectIdentifier(viewController)] = picker
            let (previous, handler) = (state.last, handler)
            state.last = Task {
                await previous?.value
                await action(handler, picker)
            }
        }
    }
}
#endif
