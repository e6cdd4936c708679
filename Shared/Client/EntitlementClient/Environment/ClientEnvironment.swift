public import Foundation
internal import Octets

/// The library's dependencies; each can be replaced.
public struct ClientEnvironment: Sendable {
    /// Base address of the servers, used when ``EntitlementClient/configure(requestor:endpoints:)`` names none.
    public var server: URL
    /// The version of their API that the library speaks; ``RestVersion/v1`` unless it is set.
    public var restVersion: RestVersion
    public var device: DeviceDescription
    public var transport: any HTTPTransport
    public var store: any SecureStore
    public var clock: any ClientClock
    /// The platform's single sign-on; `nil` where there is none.
    public var providerAccounts: (any ProviderAccountPlatform)?
    /// The platform's Automatic Sign-In; `nil` where there is none.
    public var autoSignIn: (any AutoSignInPlatform)?
    /// The app's own bundle id, for Automatic Sign-In.
    public var bundleID: String
    /// SAML issuer under which the providers know the service (`channelIdentifier`).
    public var channelIdentifier: String
    /// Login and logout end here: an address that the app watches for and never loads.
    public var returnAddress: String
    /// The same, when Safari's view controller shows the login: has the app's own scheme (`adbe.….://…`).
    public var safariReturnAddress: String?
    /// Sent at registration when the software statement belongs to a certain address.
    public var redirectURI: String?
    /// True when ``MetadataKey/deviceID`` returns the device's id.
    public var revealsDeviceID: Bool
    /// Between two polls of a registration code; at least 3 s.
    public var pollInterval: Duration {
        didSet { pollInterval = max(pollInterval, .seconds(3)) }
    }

    /// - Parameters:
    ///   - server: For example `https://entitlements.example`.
    ///   - device: On which the app runs.
    ///   - store: Keeps sessions between launches.
    ///   - transport: Carries the requests.
    ///   - clock: Tells the time.
    ///   - providerAccounts: The platform's single sign-on.
    ///   - autoSignIn: The platform's Automatic Sign-In.
    ///   - bundleID: The app's own, for Automatic Sign-In.
    public init(
        server: URL, device: DeviceDescription, store: any SecureStore, transport: any HTTPTransport = URLSessionTransport(),
        clock: any ClientClock = SystemClientClock(), providerAccounts: (any ProviderAccountPlatform)? = nil,
        autoSignIn: (any AutoSignInPlatform)? = nil, bundleID: String = ""
    ) {
        self.server = server
        restVersion = .v1
        self.device = device
        self.store = store
        self.transport = transport
        self.clock = clock
        self.providerAccounts = providerAccounts
        self.autoSignIn = autoSignIn
        self.bundleID = bundleID
        channelIdentifier = "https://saml.sp.auth.adobe.com"
        returnAddress = "adobepass://ios.app"
        revealsDeviceID = false
        pollInterval = .seconds(5)
    }
}

/// The time, for the library. Tests have one of their own.
public protocol ClientClock: Sendable {
    /// The device's time of day; it may be wrong and may jump.
    var now: Date { get }
    /// Time since an arbitrary moment; never jumps.
    var uptime: Duration { get }
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    func sleep(for duration: Duration) async throws
}

/// The device's clock.
public struct SystemClientClock: ClientClock {
    private let start = ContinuousClock.now

    /// A clock that counts ``uptime`` from now on.
    public init() {}

    public var now: Date { Date() }
    public var uptime: Duration { ContinuousClock.now - start }
    public func sleep(for duration: Duration) async throws { try await Task.sleep(for: duration) }
}
