@testable import AccessEnabler
import Cryptography
import enum EntitlementClient.JSONValue
import struct EntitlementClient.RequestSigner
import enum EntitlementClient.RestVersion
import Foundation
import Testing
import Tokens

/// The vendor's SDK at source level (Shared/Documents/Specs/clients.md §5). Whole apps are in `Tests/Cluster/AccessEnablerApps`.
@Suite("The SDK at source level")
struct AccessEnablerTests {
    /// Records its calls; a class without actor isolation.
    final class Listener: NSObject, EntitlementDelegate, EntitlementStatus {
        private let lock = NSLock()
        private var notes: [String] = []
        private(set) var arguments: [[AnyHashable: Any]] = []

        var told: [String] { lock.withLock { notes } }
        private func note(_ text: String) { lock.withLock { notes.append(text) } }

        func setRequestorComplete(_ status: Int32) { note("requestor \(status)") }
        func setAuthenticationStatus(_ status: Int32, errorCode code: String!) { note("status \(status) \(code!)") }
        func displayProviderDialog(_ mvpds: [Any]!) { note("dialog \(mvpds.count)") }
        func navigate(toUrl url: String!) { note("navigate") }
        func setToken(_ token: String!, forResource resource: String!) { note("token") }
        func tokenRequestFailed(_ resource: String!, errorCode code: String!, errorDescription description: String!) {
            note("refused '\(resource!)' \(code!)")
        }
        func preauthorizedResources(_ resources: [Any]!) { note("preauthorized \(resources.count)") }
        func selectedProvider(_ mvpd: MVPD!) { note("selected \(mvpd?.id ?? "nil")") }
        func setMetadataStatus(_ metadata: Any!, encrypted: Bool, forKey key: Int32, andArguments arguments: [AnyHashable: Any]!) {
            self.arguments.append(arguments)
            note("metadata \(key) \(metadata == nil ? "nil" : "value")")
        }
        func sendTrackingData(_ data: [Any]!, forEventType event: Int32) {}
        func presentTvProviderDialog(_ viewController: UIViewController!) {}
        func dismissTvProviderDialog(_ viewController: UIViewController!) {}
        func status(_ status: [AnyHashable: Any]!) { note("\(status["errorId"] ?? "?"): \(status["details"] ?? "")") }
    }

    private func eventually(_ what: String, _ condition: () -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while !condition() {
            try #require(ContinuousClock.now < deadline, "\(what)")
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    @Test(
        "clients #63: service providers as apps write them",
        arguments: [
            ("sp.example/adobe-services", "https://sp.example"), ("sp.example", "https://sp.example"), ("127.0.0.1:8080", "https://127.0.0.1:8080"),
            ("sp.example/adobe-services/", "https://sp.example"),
            ("https://sp.example/adobe-services", "https://sp.example"), ("http://127.0.0.1:8080/adobe-services/", "http://127.0.0.1:8080"),
            (" https://sp.example:8443/ ", "https://sp.example:8443"), ("https://sp.example/tve/adobe-services", "https://sp.example/tve"),
        ])
    func serviceProviders(_ given: String, _ expected: String) {
        #expect(ServiceProviders.addresses([given])?.map(\.absoluteString) == [expected])
        #expect(ServiceProviders.addresses([given as NSString])?.map(\.absoluteString) == [expected])
    }

    @Test("clients #64: what is no address is none, and nothing traps")
    func noServiceProviders() {
        for wrong in [nil, [], [7], [""], ["ftp://sp.example"], ["https://"], [NSNull()], ["sp.example", 7]] as [[Any]?] {
            #expect(ServiceProviders.addresses(wrong) == nil, "\(String(describing: wrong))")
        }
        #expect(ServiceProviders.addresses([URL(string: "https://sp.example/adobe-services") as Any])?.count == 1)
    }

    @Test("clients #64: nil, empty texts and other types end with the documented callback and its code")
    func wrongValues() async throws {
        let listener = Listener()
        let enabler = AccessEnabler("statement")
        enabler.delegate = listener
        enabler.statusDelegate = listener
        enabler.setOptions(nil)
        enabler.setOptions([7: 8, "visitorID": NSNull(), "handleSVC": "true"])
        enabler.setRequestor(nil)
        enabler.setRequestor("", serviceProviders: ["sp.example"])
        enabler.setRequestor("ACME1", serviceProviders: [7])
        enabler.setRequestor("ACME1", signedRequestorID: nil, serviceProviders: ["sp.example"], secret: nil, publicKey: "x")
        enabler.checkAuthorization(nil)
        enabler.getAuthorization("", withData: [7: NSNull()])
        enabler.checkPreauthorizedResources(nil)
        enabler.checkPreauthorizedResources([7, NSNull(), ""], cache: false)
        enabler.getMetadata(nil)
        enabler.getMetadata([METADATA_OPCODE_KEY: "three"])
        enabler.getMetadata([METADATA_OPCODE_KEY: 99, 5: [1]])
        enabler.handleExternalURL(nil)
        enabler.handleExternalURL("")
        enabler.getAuthenticationToken()
        enabler.preauthorize(nil, callback: nil)
        let refusals = ["CFG400: ", "requestor 0", "CFG400: ", "requestor 0", "CFG404: ", "requestor 0", "R401: ", "requestor 0"]
        try await eventually("all callbacks") { listener.told.count >= 15 }
        let ends = listener.told.filter { !$0.contains(": ") && !$0.hasPrefix("requestor") }
        #expect(
            ends.sorted() == [
                "metadata -1 nil", "metadata -1 nil", "metadata 99 nil", "preauthorized 0", "preauthorized 0",
                "refused '' GENERIC_AUTHORIZATION_ERROR", "refused '' GENERIC_AUTHORIZATION_ERROR",
            ])
        let told = listener.told.filter { $0.contains(": ") || $0.hasPrefix("requestor") }
        #expect(told.count == refusals.count && zip(told, refusals).allSatisfy { $0.hasPrefix($1) }, "the reason before each end: \(told)")
        #expect(listener.arguments.last?[5] as? [Int] == [1], "arguments come back as they were given")
    }

    @Test(
        "clients #64: before setRequestorComplete(0), status tells what is wrong with the servers",
        arguments: [
            ([7], "CFG404: the service provider '7' is no address of a server"),
            (["sp.example", "ftp://sp.example"], "CFG404: the service provider 'ftp://sp.example' is no address of a server"),
            ([], "CFG404: no server is named: pass service providers to setRequestor, or set AccessEnablerServiceProvider"),
        ] as [([any Sendable], String)])
    func reasonsOfServers(_ given: [any Sendable], _ expected: String) async throws {
        let listener = Listener()
        let enabler = AccessEnabler("statement")
        enabler.delegate = listener
        enabler.statusDelegate = listener
        enabler.setRequestor("ACME1", serviceProviders: given.map { $0 as Any })
        try await eventually("two callbacks") { listener.told.count == 2 }
        #expect(listener.told[0].hasPrefix(expected) && listener.told[1] == "requestor 0", "\(listener.told)")
    }

    @Test("clients #67: operations from other threads keep their order")
    func threads() async throws {
        let listener = Listener()
        let enabler = AccessEnabler()
        enabler.delegate = listener
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                enabler.setRequestor(nil)
                enabler.checkPreauthorizedResources([])
                enabler.checkAuthorization("")
                continuation.resume()
            }
        }
        try await eventually("three callbacks") { listener.told.count == 3 }
        #expect(listener.told == ["requestor 0", "preauthorized 0", "refused '' GENERIC_AUTHORIZATION_ERROR"])
    }

    @Test("clients #65: metadata arrive as texts, lists and maps")
    func metadata() {
        #expect(GivenValue.plain(.string("x")) as? String == "x")
        #expect((GivenValue.plain(.array([.string("a"), .integer(1)])) as? NSArray)?.count == 2)
        #expect((GivenValue.plain(.object(["k": .string("v"), "n": .null])) as? NSDictionary)?["k"] as? String == "v")
        #expect(GivenValue.plain(.integer(7)) as? Int == 7)
        #expect(GivenValue.plain(.bool(true)) as? Bool == true)
        #expect(GivenValue.plain(.null) == nil)
        #expect(GivenValue.json(NSNumber(value: METADATA_USER_META)) == .integer(3) && GivenValue.json(Int(METADATA_USER_META)) == .integer(3))
        #expect(GivenValue.json("t") == .string("t"))
        #expect(GivenValue.json(["a": [true, 2.5] as [Any]]) == .object(["a": .array([.bool(true), .number(2.5)])]))
        #expect(GivenValue.json(Date()) == nil)
    }

    @Test("clients #66: constants and their values")
    func constants() {
        #expect(ACCESS_ENABLER_STATUS_SUCCESS == 1 && ACCESS_ENABLER_STATUS_ERROR == 0)
        #expect(METADATA_AUTHENTICATION == 0 && METADATA_AUTHORIZATION == 1 && METADATA_DEVICE_ID == 2 && METADATA_USER_META == 3)
        #expect(TRACKING_AUTHENTICATION == 0 && TRACKING_AUTHORIZATION == 1 && TRACKING_GET_SELECTED_PROVIDER == 2)
        #expect(METADATA_USER_META_KEY == "user_metadata_name" && ADOBEPASS_REDIRECT_URL == "adobepass://ios.app")
    }

    @Test(
        "version 2 of the API has to be asked for", arguments: [(nil, RestVersion.v1), ("", .v1), ("v3", .v1), ("v1", .v1), ("v2", .v2), ("V2", .v2)])
    func restVersion(named text: String?, expected: RestVersion) {
        #expect(PlatformEnvironment.restVersion(named: text) == expected)
    }

    @Test("clients #68: secret and public key sign calls as the servers take it")
    func signs() throws {
        let signer = RequestSigner(requestor: "ACME1", publicKey: "PublicKey2016", secret: "a secret")
        let text = signer.header("POST", "/reggie/v1/ACME1/regcode", now: Date(timeIntervalSince1970: 1_800_000_000.5))
        let header = try #require(SignedRequestHeader(text))
        #expect(header.method == "POST" && header.requestorID == "ACME1" && header.publicKey == "PublicKey2016" && header.time == 1_800_000_000_500)
        #expect(HMACSHA1.authenticate(Array(header.signedText.utf8), key: Array("a secret".utf8)) == header.signature)
    }
}
