@testable import EntitlementClient
import Foundation
import Testing

extension TestApp {
    /// Every call and every opened page with a device type has this one (client-sdk §1.2).
    func requireDeviceType(_ type: String) throws {
        let pages = pages.map { FakeServer.Call(name: .LOG, request: HTTPRequest(.get, $0)) }
        for call in server.calls + pages {
            if let said = call.parameters["deviceType"] { #expect(said == type, "\(call.name)") }
            guard let encoded = call.request.header("X-Device-Info") ?? call.parameters["device_info"] else { continue }
            let information = try #require(Data(base64Encoded: encoded.removingPercentEncoding ?? ""))
            let facts = try JSONDecoder().decode([String: String].self, from: information)
            #expect(facts["osName"] == type && facts["osFamily"] == type, "\(call.name)")
        }
    }
}
