import AccessEnabler
import EntitlementClient
import EntitlementSimulator
import Foundation

// An app that links the three products: it asks for its configuration over a network that nobody can trust, and prints the code.
@main
struct App {
    static func main() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString, isDirectory: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let network = SimulatedNetwork(URLSessionTransport())
        network.add(SimulatedNetwork.Fault(.insecure))
        let environment = ClientEnvironment(
            server: URL(filePath: "/"), device: DeviceDescription(platform: .tvOS, model: "Test", systemVersion: "26.0", id: "device-1"),
            store: FileStore(folder: folder), transport: network)
        let client = EntitlementClient(softwareStatement: "statement", environment: environment)
        do {
            try await client.configure(requestor: "ACME1", endpoints: [URL(string: "http://127.0.0.1:9")].compactMap(\.self))
            print("configured", METADATA_USER_META_KEY)
        } catch EntitlementError.configurationFailed(let code) {
            print(code, METADATA_USER_META_KEY)
        }
    }
}
