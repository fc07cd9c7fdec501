export default { allowedActionOrigins: ["www.example.test"] };
