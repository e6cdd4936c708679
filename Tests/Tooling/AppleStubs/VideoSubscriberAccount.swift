// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The public names of Apple's framework that the client library uses, so that its Apple branch can be type-checked on Linux. Nothing here runs.
public import Foundation

open class UIViewController: @unchecked Sendable {}

public let VSErrorDomain = "VSErrorDomain"
public let VSErrorInfoKeyUnsupportedProviderIdentifier = "VSErrorInfoKeyUnsupportedProviderIdentifier"

public enum VSAccountAccessStatus: Int, Sendable { case notDetermined, restricted, denied, granted }

public struct VSCheckAccessOption: Hashable, Sendable {
    public static let prompt = VSCheckAccessOption()
}

open class VSAccountManagerResult: NSObject {
    open func cancel() { fatalError("a stub") }
}

public protocol VSAccountManagerDelegate: NSObjectProtocol {
    func accountManager(_ accountManager: VSAccountManager, present viewController: UIViewController)
    func accountManager(_ accountManager: VSAccountManager, dismiss viewController: UIViewController)
    func accountManager(_ accountManager: VSAccountManager, shouldAuthenticateAccountProviderWithIdentifier accountProviderIdentifier: String) -> Bool
}

open class VSAccountManager: NSObject {
    open weak var delegate: (any VSAccountManagerDelegate)?

    open func checkAccessStatus(
        options: [VSCheckAccessOption: Any] = [:], completionHandler: @escaping @Sendable (VSAccountAccessStatus, (any Error)?) -> Void
    ) { fatalError("a stub") }

    open func enqueue(
        _ request: VSAccountMetadataRequest, completionHandler: @escaping @Sendable (VSAccountMetadata?, (any Error)?) -> Void
    ) -> VSAccountManagerResult { fatalError("a stub") }
}

open class VSAccountMetadataRequest: NSObject {
    open var channelIdentifier: String?
    open var supportedAccountProviderIdentifiers: [String] = []
    open var featuredAccountProviderIdentifiers: [String] = []
    open var verificationToken: String?
    open var includeAccountProviderIdentifier = false
    open var includeAuthenticationExpirationDate = false
    open var isInterruptionAllowed = false
    open var attributeNames: [String] = []
}

open class VSAccountMetadata: NSObject {
    open var accountProviderIdentifier: String? { fatalError("a stub") }
    open var authenticationExpirationDate: Date? { fatalError("a stub") }
    open var samlAttributeQueryResponse: String? { fatalError("a stub") }
}

open class VSUserAccountManager: NSObject, @unchecked Sendable {
    open class var shared: VSUserAccountManager { fatalError("a stub") }

    public enum AutoSignInAuthorization { case notDetermined, granted, denied }

    public struct AutoSignInToken {
        public var value: String? { fatalError("a stub") }
        public var authorization: AutoSignInAuthorization { fatalError("a stub") }
    }

    public struct AutoSignInTokenUpdateContext {
        public var authorization: AutoSignInAuthorization { fatalError("a stub") }
    }

    public final var autoSignInToken: AutoSignInToken { get async throws { fatalError("a stub") } }
    public final func requestAutoSignInAuthorization() async throws -> AutoSignInTokenUpdateContext { fatalError("a stub") }
    public final func updateAutoSignInToken(_ newToken: String, updateContext: AutoSignInTokenUpdateContext) async throws { fatalError("a stub") }
    public final func deleteAutoSignInToken() async throws { fatalError("a stub") }
}
