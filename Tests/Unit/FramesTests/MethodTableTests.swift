import Testing
import Frames

@Suite struct MethodTableTests {
    @Test func findsEachMethodAmongMany() {
        let methods = (0..<300).map { (service: "boxoffice.example.v1.Service\($0 % 7)", method: "Method\($0)") }
        let table = MethodTable(methods)
        for (index, method) in methods.enumerated() { #expect(find(table, method.service, method.method) == index) }
    }

    @Test func findsNothingElse() {
        let table = MethodTable([("a.B", "CheckAll"), ("a.B", "C")])
        #expect(find(table, "a.B", "Check") == nil)
        #expect(find(table, "a.", "BCheckAll") == nil)
        #expect(find(table, "", "") == nil)
        #expect(find(table, "a.B", "D") == nil)
        #expect(find(table, "a.B", "CheckAll\0") == nil)
    }

    @Test func aLaterIndexReplacesAnEarlier() {
        var table = MethodTable([("a.B", "C")])
        table.insert(service: "a.B", method: "C", index: 9)
        #expect(find(table, "a.B", "C") == 9)
    }

    private func find(_ table: MethodTable, _ service: String, _ method: String) -> Int? {
        Array(service.utf8).withUnsafeBytes { service in Array(method.utf8).withUnsafeBytes { table.index(service: service, method: $0) } }
    }
}
