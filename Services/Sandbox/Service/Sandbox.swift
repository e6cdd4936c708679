package import Clocks
internal import EventLoops
internal import Foundation
internal import HTTPTypes
package import Hummingbird
internal import HummingbirdCore
internal import HummingbirdHTTP2
package import Logging
internal import NIOCore
internal import NIOHTTPTypes
internal import NIOSSL
internal import SandboxApple
internal import SandboxKit
internal import SandboxProviders
internal import SandboxVendor
internal import Synchronization

/// The stand-ins in one process: the MVPDs (mvpd §5), and on addresses of their own Apple and a vendor's v2 server.
package struct Sandbox: Sendable {
    private let settings: SandboxSettings
    private let providers: ProviderStandIns
    private let platform: PlatformRoutes?
    private let apple: AppleStandIn?
    private let vendor: VendorStandIn?
    private let logger: Logger
    /// The certificate of the address of the MVPDs, beside plain HTTP.
    private let tls: ServedCertificate?
    /// What the stand-in vendor's second address shows and demands.
    private let vendorTls: TLSConfiguration?

    /// Loads keys and pages.
    /// - Throws: `SettingsFault` that names the setting that cannot be used.
    package init(settings: SandboxSettings, clock: any WallClock = SystemClock(), logger: Logger) async throws {
        self.settings = settings
        self.logger = logger
        tls = try settings.tls.map { tls throws(SettingsFault) in try ServedCertificate(tls) }
        vendorTls = try settings.vendor?.secure.map { secure throws(SettingsFault) in try Self.configuration(secure) }
        let pages = try await Pages(folder: settings.pages)
        let ownClock = AdjustableClock(clock)
        let providers = try ProviderStandIns(settings.providers, clock: ownClock, pages: pages, log: RequestLog(logger: logger))
        self.providers = providers
        apple = try settings.apple.map { settings throws(SettingsFault) in
            try AppleStandIn(settings, clock: clock, pages: pages, logger: logger)
        }
        vendor = try settings.vendor.map { vendor throws(SettingsFault) in
            try VendorStandIn(
                vendor, people: settings.providers.people, channels: settings.providers.channels, clock: clock, pages: pages, logger: logger)
        }
        platform = try settings.apple.map { apple throws(SettingsFault) in
            try providers.platform(
                names: apple.providers, identityIssuer: apple.identityIssuer, identityKey: apple.identityKey, clock: ownClock)
        }
    }

    /// The stand-in vendor on its own address; nil when the settings have none.
    package func vendorApplication(onServerRunning: @escaping @Sendable (Int) async -> Void = { _ in }) -> (any ApplicationProtocol)? {
        guard let vendor, let listener = settings.vendor?.listen else { return nil }
        let router = Router(context: SandboxContext.self)
            .add(middleware: PrivateNetworkTrust(trustsPrivateNetworks: settings.trustsPrivateNetworks))
        vendor.add(to: router)
        return application(router, on: listener, tls: tls, date: vendor.clock, onServerRunning)
    }

    /// The same at its second address, by HTTPS alone; nil when the settings have none.
    /// - Throws: What the TLS library finds wrong with the files.
    package func secureVendorApplication(
        onServerRunning: @escaping @Sendable (Int) async -> Void = { _ in }
    ) throws -> (any ApplicationProtocol)? {
        guard let vendor, let vendorTls, let listener = settings.vendor?.secure?.listen else { return nil }
        let router = Router(context: SandboxContext.self)
            .add(middleware: PrivateNetworkTrust(trustsPrivateNetworks: settings.trustsPrivateNetworks))
        vendor.add(to: router)
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .notice)
        let clock = vendor.clock
        return Application(
            router: router,
            server: try .http2Upgrade(
                tlsConfiguration: vendorTls,
                configuration: HTTP2UpgradeChannel.Configuration(
                    streamConfiguration: HTTP1Channel.Configuration(additionalChannelHandlers: [DateHeader(clock: clock)]))),
            configuration: ApplicationConfiguration(address: .hostname(listener.address, port: listener.port)),
            onServerRunning: { channel in await onServerRunning(channel.localAddress?.port ?? 0) },
            logger: quiet
        )
    }

    private static func configuration(_ secure: VendorSettings.Secure) throws(SettingsFault) -> TLSConfiguration {
        var configuration = try ServedCertificate.configuration(
            SandboxSettings.Tls(certificate: secure.certificate, key: secure.key), at: "upstream.secure")
        guard let file = secure.clientAuthorities else { return configuration }
        let authorities = try KeyFile.read(file, key: "upstream.secure.clientAuthorities")
        do {
            configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(authorities))
        } catch {
            throw SettingsFault(key: "upstream.secure.clientAuthorities", problem: "cannot be used: \(error): \(file)")
        }
        configuration.certificateVerification = .noHostnameVerification
        return configuration
    }

    /// The HTTP application on the address of the settings.
    /// - Parameter onServerRunning: Called with the port once the address is bound.
    package func application(onServerRunning: @escaping @Sendable (Int) async -> Void = { _ in }) -> some ApplicationProtocol {
        application(router(), on: settings.listen, tls: tls, onServerRunning)
    }

    /// The stand-in Apple on its own address; nil when the settings have none.
    package func appleApplication(onServerRunning: @escaping @Sendable (Int) async -> Void = { _ in }) -> (any ApplicationProtocol)? {
        guard let platform, let apple, let listener = settings.apple?.listen else { return nil }
        let router = Router(context: SandboxContext.self)
            .add(middleware: PrivateNetworkTrust(trustsPrivateNetworks: settings.trustsPrivateNetworks))
        router.get("/healthz") { _, _ in "ok" }
        platform.add(to: router)
        apple.add(to: router)
        return application(router, on: listener, onServerRunning)
    }

    private func application(
        _ router: Router<SandboxContext>, on listener: ListenerSettings, tls: ServedCertificate? = nil, date: AdjustableClock? = nil,
        _ onServerRunning: @escaping @Sendable (Int) async -> Void
    ) -> some ApplicationProtocol {
        // The web framework's own lines at level info are sentences, not events.
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .notice)
        let configuration = HTTP1Channel.Configuration(
            additionalChannelHandlers: [OneProtocol()] + (date.map { [DateHeader(clock: $0)] } ?? []))
        return Application(
            router: router,
            server: HTTPServerBuilder { responder in
                guard let tls else { return HTTP1Channel(responder: responder, configuration: configuration) }
                return EitherChannel(responder: responder, configuration: configuration, tls: tls)
            },
            configuration: ApplicationConfiguration(address: .hostname(listener.address, port: listener.port)),
            onServerRunning: { channel in await onServerRunning(channel.localAddress?.port ?? 0) },
            logger: quiet
        )
    }

    private func router() -> Router<SandboxContext> {
        let router = Router(context: SandboxContext.self)
            .add(middleware: PrivateNetworkTrust(trustsPrivateNetworks: settings.trustsPrivateNetworks))
        router.get("/healthz") { _, _ in "ok" }
        providers.add(to: router)
        return router
    }
}

/// Writes the time of a stand-in's own clock into its answers, in place of the machine's: callers see how wrong that clock is.
final class DateHeader: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let clock: AdjustableClock

    init(clock: AdjustableClock) { self.clock = clock }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
        head.headerFields[.date] = Self.text(clock.now())
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }

    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
    static func text(_ moment: Timestamp) -> String {
        let text = Instant.text(moment)
        let month = Int(text.dropFirst(5).prefix(2)).map { months[$0 - 1] } ?? ""
        let day = days[Int(((moment.seconds / 86_400) % 7 + 7) % 7)]
        return "\(day), \(text.dropFirst(8).prefix(2)) \(month) \(text.prefix(4)) \(text.dropFirst(11).prefix(8)) GMT"
    }
}

/// Serves plain HTTP and HTTPS at one address: the first octet of a connection tells which it is (RFC 8446 §5.1). Programs that send no password in
/// the clear put `https` before any address that they are given.
struct EitherChannel: ServerChildChannel {
    private let plain: HTTP1Channel
    private let tls: ServedCertificate

    init(responder: @escaping HTTPChannelHandler.Responder, configuration: HTTP1Channel.Configuration = .init(), tls: ServedCertificate) {
        plain = HTTP1Channel(responder: responder, configuration: configuration)
        self.tls = tls
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        do {
            try channel.pipeline.syncOperations.addHandler(FirstOctet(tls: tls.context))
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return plain.setup(channel: channel, logger: logger)
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async { await plain.handle(value: value, logger: logger) }
}

/// Inserts TLS before all other handlers if the connection begins with a handshake, then removes itself.
private final class FirstOctet: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// Content type of a handshake.
    private static let handshake: UInt8 = 22
    private let tls: NIOSSLContext

    init(tls: NIOSSLContext) { self.tls = tls }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        let pipeline = context.pipeline.syncOperations
        if buffer.getInteger(at: buffer.readerIndex) == Self.handshake {
            do { try pipeline.addHandler(NIOSSLServerHandler(context: tls), position: .after(self)) } catch { return context.close(promise: nil) }
        }
        context.fireChannelRead(data)
        pipeline.removeHandler(context: context, promise: nil)
    }
}

/// The certificate of the HTTPS address. Files that have changed are taken in without a restart; those that cannot be used change nothing.
final class ServedCertificate: Sendable {
    private struct State {
        var context: NIOSSLContext
        var content: [Data]
        var looked = ContinuousClock.now
    }

    /// The files are looked at this often, while connections come.
    private static let interval: Duration = .seconds(2)

    private let files: SandboxSettings.Tls
    private let state: Mutex<State>

    /// - Throws: `SettingsFault`, naming the file.
    init(_ files: SandboxSettings.Tls) throws(SettingsFault) {
        self.files = files
        let content = Self.content(files)
        state = Mutex(State(context: try Self.load(files), content: content))
    }

    /// For the next handshake.
    var context: NIOSSLContext {
        state.withLock { state in
            guard state.looked + Self.interval <= .now else { return state.context }
            state.looked = .now
            let content = Self.content(files)
            if content != state.content, let context = try? Self.load(files) { (state.context, state.content) = (context, content) }
            return state.context
        }
    }

    /// The identity of the HTTPS server.
    private static func load(_ files: SandboxSettings.Tls) throws(SettingsFault) -> NIOSSLContext {
        let configuration = try configuration(files, at: "tls")
        do {
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw SettingsFault(key: "tls", problem: "cannot be used: \(error): \(files.certificate), \(files.key)")
        }
    }

    /// - Parameter place: The object of the settings that names the files.
    /// - Throws: `SettingsFault`, naming the file.
    static func configuration(_ files: SandboxSettings.Tls, at place: String) throws(SettingsFault) -> TLSConfiguration {
        let certificates = try KeyFile.read(files.certificate, key: "\(place).certificate")
        let key = try KeyFile.read(files.key, key: "\(place).key")
        if let reason = SandboxSigningKey.encryption(key) {
            throw SettingsFault(key: "\(place).key", problem: "cannot be used: \(reason): \(files.key)")
        }
        do {
            let chain = try NIOSSLCertificate.fromPEMBytes(certificates).map { NIOSSLCertificateSource.certificate($0) }
            return .makeServerConfiguration(certificateChain: chain, privateKey: .privateKey(try NIOSSLPrivateKey(bytes: key, format: .pem)))
        } catch {
            throw SettingsFault(key: place, problem: "cannot be used: \(error): \(files.certificate), \(files.key)")
        }
    }

    private static func content(_ files: SandboxSettings.Tls) -> [Data] {
        [files.certificate, files.key].map { FileManager.default.contents(atPath: $0) ?? Data() }
    }
}
