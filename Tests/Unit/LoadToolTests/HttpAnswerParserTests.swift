import NIOCore
import Testing

@testable import LoadTool

@Suite struct HttpAnswerParserTests {
    /// Reads answers from bytes that come in pieces.
    private static func read(_ text: String, piece: Int, isHead: Bool = false) throws -> [HttpAnswerParser.Whole] {
        var parser = HttpAnswerParser()
        parser.keepsAll = true
        parser.isHead = isHead
        var buffer = ByteBuffer()
        var whole: [HttpAnswerParser.Whole] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            buffer.writeBytes(rest.prefix(piece))
            rest = rest.dropFirst(piece)
            while let next = try parser.read(&buffer) { whole.append(next) }
        }
        if let last = parser.end() { whole.append(last) }
        return whole
    }

    @Test(arguments: [1, 2, 3, 7, 1000])
    func readsAnswersThatComeInPieces(_ piece: Int) throws {
        let text =
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Name:  a value \r\n\r\nhello"
            + "HTTP/1.1 204 No Content\r\n\r\n"
            + "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n"
            + "HTTP/1.1 503 Busy\r\ncontent-length: 4\r\nConnection: Close\r\n\r\nbusy"
        let whole = try Self.read(text, piece: piece)
        #expect(whole.map(\.answer.status) == [200, 204, 200, 503])
        #expect(whole.map { String(decoding: $0.answer.body, as: UTF8.self) } == ["hello", "", "abc0123456789", "busy"])
        #expect(whole.map(\.answer.failure) == [nil, nil, nil, "http_503"])
        #expect(whole.map(\.closes) == [false, false, false, true])
        #expect(whole[0].answer.header("x-name") == "a value")
        #expect(whole.reduce(0) { $0 + $1.byteCount } == text.utf8.count)
    }

    @Test func aBodyWithoutALengthEndsWithTheConnection() throws {
        let whole = try Self.read("HTTP/1.0 200 OK\r\n\r\nall of it", piece: 4)
        #expect(whole.count == 1)
        #expect(whole[0].closes)
        #expect(String(decoding: whole[0].answer.body, as: UTF8.self) == "all of it")
    }

    @Test func anAnswerToHeadHasNoBody() throws {
        #expect(try Self.read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", piece: 100, isHead: true).count == 1)
    }

    @Test func interimAnswersAreNone() throws {
        let whole = try Self.read("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", piece: 100)
        #expect(whole.map(\.answer.status) == [200])
    }

    @Test(arguments: [
        "SSH-2.0-server\r\n\r\n", "HTTP/1.1 xyz\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "HTTP/1.1 999 No\r\n\r\n",
    ])
    func refusesWhatIsNoAnswer(_ text: String) {
        #expect(throws: HttpAnswerParser.Rejection.self) { try Self.read(text, piece: 1000) }
    }

    @Test func anAnswerThatIsCutOffIsNone() throws {
        #expect(try Self.read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", piece: 1000).isEmpty)
    }
}
