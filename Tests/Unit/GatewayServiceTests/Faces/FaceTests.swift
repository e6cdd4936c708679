internal import Foundation
@testable import GatewayEdge
internal import Logging
internal import Testing

/// How the faces of the API word refusals.
@Suite struct FaceTests {
    /// `refusals.txt` was written before the faces were taken apart. A line says who got the answer and for what, then status, headers and body. For
    /// a page it has the heading alone: the templates may change.
    @Test("every face answers each fault, bad body, method and unknown address octet for octet as the table says")
    func wordsOfAllFaces() async throws {
        let gateway = TestGateway()
        let faces = try gateway.faces()
        let overload = OverloadRefusals(
            routes: RouteTree([]), settings: gateway.settings, faces: faces, metrics: RequestMetrics(), transportSecurity: nil,
            catalogue: gateway.catalogue, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let lines = try await RefusalTable(refusals: Refusals(faces), overload: overload).lines()
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "refusals.txt")
        let expected = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(lines.filter { !expected.contains($0) } == [], "these answers are not in the table")
        #expect(expected.filter { !lines.contains($0) } == [], "these answers of the table are given no longer")
        #expect(lines.count == expected.count && lines.count > 300)
    }
}
