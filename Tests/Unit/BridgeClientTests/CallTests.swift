import Contracts
import Cryptography
import OutboundHttp
import StrictJson
import Testing

@testable import BridgeClient

/// The requests (bridge §5.1, §5.2).
@Suite struct CallTests {
    static func device(_ id: String = "dev-7f3a", _ change: (inout BridgeDevice) -> Void = { _ in }) -> BridgeDevice {
        var information = DeviceInformation()
        (information.type, information.model, information.osName) = ("TV", "Living-room", "Linux")
        var device = BridgeDevice(
            id: id, information: information, address: "8.8.4.4", port: 50_412, isSecure: true, userAgent: "ACME/1.0")
        change(&device)
        return device
    }

    static func sent(
        _ call: BridgeCall, _ device: BridgeDevice? = device(), _ form: BridgeDeviceForm = BridgeDeviceForm()
    ) -> [String: String] {
        let request = call.request(to: "https://api.upstream.example", bearer: "b1", device: device, form: form)
        return Dictionary(uniqueKeysWithValues: request.headers.map { ($0.name, $0.value) })
    }

    static func information(_ headers: [String: String]) throws -> [String: String] {
        let text = try #require(headers["X-Device-Info"].flatMap { Base64.standard.decode($0) })
        let members = try #require(try JsonDocument(parsing: text).root.members)
        return Dictionary(uniqueKeysWithValues: members.map { ($0.name, $0.value.string ?? "?") })
    }

    @Test("bridge B19: the app's device id goes on as it is, in the form that trials upstream are keyed by")
    func identifiers() {
        let call = BridgeCall.profiles("ACME1")
        #expect(Self.sent(call)["AP-Device-Identifier"] == "fingerprint ZGV2LTdmM2E=")
        #expect(Self.sent(call, Self.device("DEV-7F3A"))["AP-Device-Identifier"] == "fingerprint REVWLTdGM0E=")
        let digest = Base64.standard.encode(Array(Hex.encode(SHA256.hash("dev-7f3a")).utf8))
        #expect(Self.sent(call, Self.device(), BridgeDeviceForm(identifier: .digest))["AP-Device-Identifier"] == "fingerprint \(digest)")
    }

    @Test("bridge B20, B21: what v2 requires is filled in, what v2 does not know is left out")
    func deviceInformation() throws {
        let device = Self.device { $0.information.osName = "Unknown" }
        let told = try Self.information(Self.sent(.profiles("ACME1"), device))
        #expect(told["primaryHardwareType"] == "TV")
        #expect(told["model"] == "Living-room")
        #expect(told["osName"] == nil)
        #expect(told["osVersion"] == "unknown" && told["version"] == "unknown" && told["connectionType"] == "unknown")
        let bare = try Self.information(Self.sent(.profiles("ACME1"), device, BridgeDeviceForm(fillsInformation: false)))
        #expect(bare["osVersion"] == nil && bare["version"] == nil && bare["connectionType"] == nil)
    }

    @Test("bridge B22: a private address is replaced by the one that the device came from; a public one stays with its port")
    func connection() throws {
        let homely = Self.device {
            $0.information.connectionIP = "192.168.0.7"; $0.information.connectionPort = "4711"
        }
        let told = try Self.information(Self.sent(.profiles("ACME1"), homely))
        #expect(told["connectionIp"] == "8.8.4.4" && told["connectionPort"] == "50412" && told["connectionSecure"] == "true")
        let known = Self.device {
            $0.information.connectionIP = "9.9.9.9"; $0.information.connectionPort = "4711"
        }
        let kept = try Self.information(Self.sent(.profiles("ACME1"), known))
        #expect(kept["connectionIp"] == "9.9.9.9" && kept["connectionPort"] == "4711")
        let inside = Self.device { $0.address = "10.0.0.3" }
        let headers = Self.sent(.profiles("ACME1"), inside)
        #expect(headers["X-Forwarded-For"] == nil)
        #expect(try Self.information(headers)["connectionIp"] == nil)
    }

    @Test("a list names no device and no connection; without a device the transport says who calls (bridge §5.1)")
    func list() throws {
        let headers = Self.sent(.list("ACME1"))
        #expect(headers["AP-Device-Identifier"] == nil)
        #expect(headers["X-Forwarded-For"] == "8.8.4.4")
        #expect(try Self.information(headers)["connectionIp"] == nil)
        #expect(Self.sent(.list("ACME1"), nil)["User-Agent"] == nil)
    }

    @Test("bridge B24: the visitor goes with its own call, a user agent loses its line ends")
    func visitor() {
        let device = Self.device { ($0.visitor, $0.userAgent) = ("123", "ACME\r\nX-Evil: 1") }
        #expect(Self.sent(.profiles("ACME1"), device)["AP-Visitor-Identifier"] == "123")
        #expect(Self.sent(.profiles("ACME1"), device)["User-Agent"] == "ACMEX-Evil: 1")
        #expect(Self.sent(.profiles("ACME1"), Self.device { $0.visitor = "a b" })["AP-Visitor-Identifier"] == nil)
        #expect(Self.sent(.register(statement: "s"), device)["AP-Visitor-Identifier"] == nil)
    }

    @Test("bridge B25: platform tokens go to sessions, profiles and decisions, not to lists and logouts")
    func platformTokens() {
        let device = Self.device { ($0.subjectToken, $0.rokuToken) = ("subject", "roku") }
        let with = [
            BridgeCall.create("ACME1", mvpd: "M", domainName: "d", redirectURL: "r"), .profiles("ACME1"), .profile("ACME1", mvpd: "M"),
            .authorize("ACME1", mvpd: "M", resource: "r"), .preauthorize("ACME1", mvpd: "M", resources: ["r"]),
        ]
        for call in with {
            #expect(Self.sent(call, device)["Adobe-Subject-Token"] == "subject", "\(call.operation)")
            #expect(Self.sent(call, device)["X-Roku-Reserved-Roku-Connect-Token"] == "roku", "\(call.operation)")
        }
        let without = [
            BridgeCall.list("ACME1"), .logout("ACME1", mvpd: "M", redirectURL: "r"), .profile("ACME1", code: "C0DE123"), .register(statement: "s"),
        ]
        for call in without { #expect(Self.sent(call, device)["Adobe-Subject-Token"] == nil, "\(call.operation)") }
    }

    @Test("ids become one step of the path each, and bodies say what they are")
    func paths() {
        func request(_ call: BridgeCall) -> OutboundRequest {
            call.request(to: "https://api.upstream.example", bearer: nil, device: nil, form: BridgeDeviceForm())
        }
        #expect(request(.profile("A/B", mvpd: "M?x")).url == "https://api.upstream.example/api/v2/A%2FB/profiles/M%3Fx")
        #expect(
            request(.logout("ACME1", mvpd: "M", redirectURL: "https://a.example/?x=1&y")).url
                == "https://api.upstream.example/api/v2/ACME1/logout/M?redirectUrl=https%3A%2F%2Fa.example%2F%3Fx%3D1%26y")
        let reset = request(.reset("ACME1", mvpd: "TrialUp", who: "dev 7", isOfPersons: false))
        #expect(reset.method == .delete && reset.body == nil)
        #expect(
            reset.url
                == "https://api.upstream.example/reset-tempass/v3/reset?device_id=dev%207&requestor_id=ACME1&mvpd_id=TrialUp", "\(reset.url)")
        #expect(request(.reset("ACME1", mvpd: "T", who: nil, isOfPersons: true)).url.contains("/reset/generic?key=all&"))
        let authorize = request(.authorize("ACME1", mvpd: "M", resource: #"<rss a="b">"#))
        #expect(authorize.body == Array(#"{"resources":["<rss a=\"b\">"]}"#.utf8))
        let token = request(.token(BridgeCredentials(clientID: "c d", clientSecret: "s&t", scopes: [])))
        #expect(token.body == Array("grant_type=client_credentials&client_id=c%20d&client_secret=s%26t".utf8))
        #expect(token.headers.contains { $0.name == "Content-Type" && $0.value == "application/x-www-form-urlencoded" })
    }

    @Test("a call is repeated only where upstream cannot have done it twice")
    func repetitions() {
        for operation in BridgeOperation.allCases {
            let isPartner = operation == .partnerRequest || operation == .partnerProfile
            #expect(operation.mayRepeat(after: .unreachable(.notSent)) == !isPartner)
            #expect(!operation.mayRepeat(after: .unreachable(.responseTimeout)))
            #expect(operation.mayRepeat(after: .serverError(503)) == [.token, .readSession, .byCode, .profile, .profiles].contains(operation))
        }
    }

    @Test("a large user agent is left out of the device's information before the header grows beyond its bound")
    func largeInformation() throws {
        let device = Self.device { $0.information.userAgent = String(repeating: "x", count: 5000) }
        let headers = Self.sent(.profiles("ACME1"), device)
        #expect(try #require(headers["X-Device-Info"]).utf8.count <= 4096)
        #expect(try Self.information(headers)["userAgent"] == nil)
    }
}
