import GRPCCore

/// A message of `echo.proto`.
protocol PeerMessage: Sendable {
    init(fields: UnsafeRawBufferPointer) throws
    var fields: ProtobufFields { get }
}

struct EchoMessage: PeerMessage {
    var content: [UInt8] = []

    init(content: [UInt8]) { self.content = content }

    init(fields: UnsafeRawBufferPointer) throws {
        try ProtobufFields.read(fields) { field, bytes, _ in if field == 1 { content = Array(bytes) } }
    }

    var fields: ProtobufFields {
        var fields = ProtobufFields()
        fields.add(1, content)
        return fields
    }
}

struct SessionQuestion: PeerMessage {
    var requestor = ""
    var deviceID = ""

    init(requestor: String, deviceID: String) { (self.requestor, self.deviceID) = (requestor, deviceID) }

    init(fields: UnsafeRawBufferPointer) throws {
        try ProtobufFields.read(fields) { field, bytes, _ in
            if field == 1 { requestor = String(decoding: bytes, as: UTF8.self) }
            if field == 2 { deviceID = String(decoding: bytes, as: UTF8.self) }
        }
    }

    var fields: ProtobufFields {
        var fields = ProtobufFields()
        fields.add(1, Array(requestor.utf8))
        fields.add(2, Array(deviceID.utf8))
        return fields
    }
}

struct SessionAnswer: PeerMessage {
    var requestor = ""
    var mvpd = ""
    var expires: Int64 = 0

    init(requestor: String, mvpd: String, expires: Int64) { (self.requestor, self.mvpd, self.expires) = (requestor, mvpd, expires) }

    init(fields: UnsafeRawBufferPointer) throws {
        try ProtobufFields.read(fields) { field, bytes, number in
            if field == 1 { requestor = String(decoding: bytes, as: UTF8.self) }
            if field == 2 { mvpd = String(decoding: bytes, as: UTF8.self) }
            if field == 3 { expires = Int64(bitPattern: number) }
        }
    }

    var fields: ProtobufFields {
        var fields = ProtobufFields()
        fields.add(1, Array(requestor.utf8))
        fields.add(2, Array(mvpd.utf8))
        fields.add(3, expires)
        return fields
    }
}

struct MessageEncoder<Message: PeerMessage>: MessageSerializer {
    func serialize<Bytes: GRPCContiguousBytes>(_ message: Message) -> Bytes { Bytes(message.fields.bytes) }
}

struct MessageDecoder<Message: PeerMessage>: MessageDeserializer {
    func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) throws -> Message {
        try bytes.withUnsafeBytes { try Message(fields: $0) }
    }
}
